// What textual.js leaves to the page: writing that a phone's window has room for and that stays sharp
// as the page is zoomed, downloads, and keys that go to the console without a click. Runs before
// textual.js makes the terminal, which is at "load".
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
// xterm.js asks for the pixels of its canvas, for sharper edges. Chromium tells them wrong while it
// emulates a display, and letters would be twice as large as their cells.
const told = Object.getOwnPropertyDescriptor(ResizeObserverEntry.prototype, "devicePixelContentBoxSize");
if (told) {
  Object.defineProperty(ResizeObserverEntry.prototype, "devicePixelContentBoxSize", {
    ...told,
    get() {
      const [size] = told.get.call(this), dense = window.devicePixelRatio;
      const across = Math.round(this.contentRect.width * dense);
      const down = Math.round(this.contentRect.height * dense);
      const fits = Math.abs(size.inlineSize - across) <= 1 && Math.abs(size.blockSize - down) <= 1;
      return [fits ? size : { inlineSize: across, blockSize: down }];
    },
  });
}
// The page is zoomed, or its window comes to a display of another density. xterm.js makes its letters
// anew, and their cells get another size: the console is laid out again once it has.
(function watch() {
  const now = window.matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`);
  now.addEventListener("change", () => {
    watch();
    const again = () => window.dispatchEvent(new Event("resize"));
    requestAnimationFrame(() => requestAnimationFrame(again));
  }, { once: true });
})();
// What the console writes for this browser is a download. textual.js opens a window for it, which
// browsers block once the press that asked for it is a few seconds past.
const open = window.open.bind(window);
window.open = (address, ...more) => {
  if (address.startsWith("#phone=")) {
    // Which phone the console shows: the panel shows the same.
    window.dispatchEvent(new CustomEvent("console-phone", { detail: decodeURIComponent(address.slice(7)) }));
    return null;
  }
  const place = new URL(address, window.location.href);
  if (place.origin !== window.location.origin || !place.pathname.startsWith("/download/")) {
    return open(address, ...more);
  }
  const link = document.createElement("a");
  link.href = place.href;
  link.download = "";
  link.click();
  return null;
};
// Once its connection stands: what is typed before, and that it has the focus, has nowhere to go.
new MutationObserver((_, observer) => {
  if (!place.classList.contains("-connected")) return;
  observer.disconnect();
  place.querySelector("textarea")?.focus();
}).observe(place, { attributes: true, attributeFilter: ["class"] });
