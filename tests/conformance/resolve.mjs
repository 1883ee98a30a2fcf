// Finds packages that a script imports in the folder where the tests have installed them.
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

const installed = pathToFileURL(`${process.env.CONFORMANCE_FOLDER}/index.mjs`).href;
registerHooks({
  resolve(specifier, context, next) {
    if (/^(node:|\.|\/|file:|data:)/.test(specifier)) return next(specifier, context);
    return context.parentURL?.includes("/node_modules/") ? next(specifier, context) : next(specifier, { ...context, parentURL: installed });
  },
});
