"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const one = (id) => document.getElementById(id);
  const root = document.documentElement;
  const remember = (key, value) => { try { localStorage.setItem(key, value); } catch { /* private or a file: nothing is kept */ } };
  const recall = (key) => { try { return localStorage.getItem(key); } catch { return null; } };

  // Light or dark.
  const known = recall("report-theme");
  if (known === "light" || known === "dark") root.dataset.theme = known;
  const turn = () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    remember("report-theme", root.dataset.theme);
  };

  // The canvas, one step at a time.
  const show = (replay, number) => {
    const steps = all(".step", replay);
    const at = Math.min(Math.max(number, 1), steps.length);
    steps.forEach((step, index) => step.classList.toggle("now", index === at - 1));
    const slider = replay.querySelector("input");
    slider.value = at;
    slider.setAttribute("aria-valuetext", steps[at - 1].querySelector("figcaption").textContent);
  };
  const place = (replay) => Number(replay.querySelector("input").value);
  for (const replay of all(".replay")) {
    replay.classList.add("live");
    replay.querySelector(".slide").hidden = false;
    replay.querySelector("input").addEventListener("input", () => show(replay, place(replay)));
    replay.querySelector(".back").addEventListener("click", () => show(replay, place(replay) - 1));
    replay.querySelector(".on").addEventListener("click", () => show(replay, place(replay) + 1));
    show(replay, place(replay));
  }

  // Find and show.
  const find = one("find"), state = one("show"), found = one("found");
  const sections = all(".scenario").map((section) => ({
    section,
    row: document.querySelector(`tr[data-scenario="${CSS.escape(section.dataset.scenario)}"]`),
    words: [section.querySelector("h3"), section.querySelector("p"), ...all(".why, .who", section)].map((part) => part.textContent).join(" ").toLowerCase(),
    cases: all(".case", section),
  }));
  const filter = () => {
    const wanted = find.value.trim().toLowerCase();
    let shown = 0;
    for (const { section, row, words, cases } of sections) {
      let some = 0;
      for (const each of cases) {
        each.hidden = !words.includes(wanted) || (state.value !== "" && each.dataset.state !== state.value);
        some += !each.hidden;
      }
      section.hidden = some === 0;
      if (row) row.hidden = some === 0;
      shown += some;
    }
    found.textContent = wanted || state.value ? `${shown} attempts` : "";
  };
  find.addEventListener("input", filter);
  state.addEventListener("change", filter);
  find.form.addEventListener("submit", (event) => event.preventDefault());
  find.form.hidden = false;

  // A link to a group shows what fails in it.
  for (const link of all("[data-find]")) {
    link.addEventListener("click", () => { find.value = link.dataset.find; state.value = "failed"; filter(); });
  }

  // A link to an attempt opens it.
  let followed = null;
  const follow = () => {
    const target = one(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    const hidden = target.closest("[hidden]") ?? target.querySelector(".case[hidden]");
    if (hidden && target.matches(".case, .scenario")) { find.value = ""; state.value = ""; filter(); }
    if (target.matches(".case")) {
      target.open = true;
      followed = target;
      target.querySelector("summary").focus({ preventScroll: true });
    }
    target.scrollIntoView();
  };
  addEventListener("hashchange", follow);
  follow();

  // Tools.
  const help = one("help");
  one("theme").addEventListener("click", turn);
  one("help-open").addEventListener("click", () => help.showModal());
  one("download").addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([one("data").textContent], { type: "application/json" }));
    link.download = "report.json";
    link.click();
    URL.revokeObjectURL(link.href);
  });
  document.querySelector(".tools").hidden = false;

  // Keyboard. A browser that goes to a link's target takes the focus away again: then the target counts.
  const current = () => document.activeElement?.closest(".case") ?? (document.activeElement === document.body ? followed : null);
  const move = (by) => {
    const cases = all(".case").filter((each) => !each.hidden && !each.closest("[hidden]"));
    const at = cases.indexOf(current());
    const next = cases[at < 0 ? (by > 0 ? 0 : cases.length - 1) : at + by];
    next?.querySelector("summary").focus();
    next?.scrollIntoView({ block: "nearest" });
  };
  const step = (by) => {
    const replays = all(".replay", current() ?? document.createElement("div"));
    const replay = document.activeElement.closest(".replay") ?? (by > 0 ? replays.find((each) => place(each) < all(".step", each).length) : replays.findLast((each) => place(each) > 1)) ?? replays[0];
    if (replay) show(replay, place(replay) + by);
  };
  const keys = {
    j: () => move(1), k: () => move(-1), "[": () => step(-1), "]": () => step(1), t: turn, "?": () => help.showModal(),
    "/": () => find.focus(),
    f: () => { state.value = state.value === "failed" ? "" : "failed"; filter(); },
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open || event.target.matches("input[type=search], select, textarea")) return;
    const does = keys[event.key];
    if (does) { event.preventDefault(); does(); }
  });
})();
