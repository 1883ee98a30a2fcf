import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import "@xyflow/react/dist/style.css";
import "./style.css";
import "./assistant/assistant.css";
import "./canvas/canvas.css";
import "./views/views.css";
import { App } from "./App";
import { language } from "./strings";

document.documentElement.lang = language();
const root = document.getElementById("root");
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
