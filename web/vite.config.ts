import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [react()],
  build: {
    outDir: process.env["PAGE_FOLDER"] ?? "dist",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0, // the page's policy allows no data: scripts or styles
    modulePreload: { polyfill: false },
  },
  server: { proxy: { "/api": "http://127.0.0.1:7878", "/sign-in": "http://127.0.0.1:7878" } },
});
