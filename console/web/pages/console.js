// What textual.js leaves to the page: writing that a phone's window has room for, and keys that go
// to the console without a click. Runs before textual.js makes the terminal, which is at "load".
"use strict";

const NARROW_PX = 640; // Of a window's width: fewer than 66 columns at the usual size.
const NARROW_FONT_PX = 12; // 54 columns at 390 px; the console needs 40.

const place = document.getElementById("terminal");
const chosen = new URLSearchParams(window.location.search).has("fontsize");
// A phone is turned; letters keep the size that they were opened with.
const turns = window.matchMedia("(pointer: coarse)").matches;
const width_px = turns ? Math.min(window.innerWidth, window.innerHeight) : window.innerWidth;
if (!chosen && width_px < NARROW_PX) {
  place.dataset.fontSize = NARROW_FONT_PX;
}
if (window.devicePixelRatio >= 2) {
  // xterm.js asks it for sharper edges. So small pixels need none, and Chromium gives it wrong
  // while it emulates them: letters would be twice as large as their cells.
  delete ResizeObserverEntry.prototype.devicePixelContentBoxSize;
}
// Once its connection stands: what is typed before, and that it has the focus, has nowhere to go.
new MutationObserver((_, observer) => {
  if (!place.classList.contains("-connected")) return;
  observer.disconnect();
  place.querySelector("textarea")?.focus();
}).observe(place, { attributes: true, attributeFilter: ["class"] });
