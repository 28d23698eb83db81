// What a tab says and does once its console is gone: one that was left stays as it is; one that lost
// its server waits, and opens again by itself as soon as the server answers. Runs before textual.js
// connects, which is at "load".
"use strict";

(() => {
  const AGAIN_MS = 2000, BOUND_MS = 5000, LEFT = 1000;
  const why = document.getElementById("ended"), again = document.getElementById("again");

  async function status() {
    try {
      return (await fetch("/", { method: "HEAD", cache: "no-store", signal: AbortSignal.timeout(BOUND_MS) })).status;
    } catch {
      return 0; // Nobody answers.
    }
  }

  async function open() {
    const answer = await status();
    again.hidden = true;
    if (answer === 200) location.reload();
    else if (answer === 403) {
      // The address changes with every start, and this page knows the old one.
      why.textContent = "'switchboard web' was started again. Open the address that it prints now.";
    } else {
      why.textContent = "No connection to 'switchboard web'. The console opens again once it answers. "
        + "If it has ended, start it again and open the address that it prints.";
      setTimeout(open, AGAIN_MS);
    }
  }

  again.addEventListener("click", (event) => { event.preventDefault(); open(); });

  // textual.js keeps its socket to itself. A server that ends says the same as a console that is left.
  window.WebSocket = class extends WebSocket {
    constructor(...given) {
      super(...given);
      if (new URL(this.url).pathname !== "/ws") return;
      this.addEventListener("close", async ({ code }) => {
        if (code !== LEFT || (await status()) !== 200) open();
      });
    }
  };
})();
