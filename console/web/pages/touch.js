// The console under a finger: a row of the keys that a touch keyboard has not, scrolling by drag, and
// a keyboard that comes when it is asked for and not at every tap. Runs after console.js.
"use strict";

(() => {
  const CODES = { Escape: 27, Tab: 9, Enter: 13, ArrowUp: 38, ArrowDown: 40, p: 80 };
  const SLOP_PX = 8; // A finger that moves less than this taps.

  const place = document.getElementById("terminal"), keyboard = document.getElementById("touch-keyboard");
  const input = () => place.querySelector("textarea");

  function press(key, ctrlKey) {
    // xterm.js reads the old numbers of keys; of a capital letter only what was typed counts.
    const keyCode = CODES[key] ?? Math.max(key.toUpperCase().charCodeAt(0), 48), charCode = key.charCodeAt(0);
    const tell = (kind, code) => input()?.dispatchEvent(new KeyboardEvent(kind, {
      key, keyCode: code, which: code, charCode: code, ctrlKey, bubbles: true, cancelable: true,
    }));
    tell("keydown", keyCode);
    if (/^[A-Z]$/.test(key)) tell("keypress", charCode);
    tell("keyup", keyCode);
  }

  // A button that took the focus would close the keyboard.
  for (const one of document.querySelectorAll("#touch button, #touch-acts button")) one.addEventListener("pointerdown", (event) => event.preventDefault());
  for (const one of document.querySelectorAll("#touch [data-key], #touch-acts [data-key]")) {
    one.addEventListener("click", () => press(one.dataset.key, "ctrl" in one.dataset));
  }

  function type(typing) {
    keyboard.setAttribute("aria-pressed", String(typing));
    const target = input();
    if (!target) return;
    target.inputMode = typing ? "text" : "none";
    target.blur(); // The mode counts from the next focus on.
    target.focus();
  }
  keyboard.addEventListener("click", () => type(keyboard.getAttribute("aria-pressed") !== "true"));
  if (matchMedia("(pointer: coarse)").matches) window.addEventListener("load", () => { if (input()) input().inputMode = "none"; });

  // xterm.js has a wheel scroll what an app draws, and a finger nothing.
  let drag = null;
  place.addEventListener("touchstart", (event) => {
    const [one] = event.touches;
    drag = event.touches.length === 1 ? { x: one.clientX, y: one.clientY, last: one.clientY, moves: false } : null;
  }, { passive: true });
  place.addEventListener("touchmove", (event) => {
    const one = event.touches[0];
    if (!drag || event.touches.length > 1) return;
    drag.moves ||= Math.hypot(one.clientX - drag.x, one.clientY - drag.y) >= SLOP_PX;
    if (!drag.moves) return;
    event.preventDefault();
    const deltaY = drag.last - one.clientY;
    drag.last = one.clientY;
    // What lies under the finger since it went down is what scrolls.
    place.querySelector(".xterm-screen")?.dispatchEvent(
      new WheelEvent("wheel", { deltaY, clientX: drag.x, clientY: drag.y, bubbles: true, cancelable: true }),
    );
  }, { passive: false });
  for (const kind of ["touchend", "touchcancel"]) place.addEventListener(kind, () => { drag = null; });
})();
