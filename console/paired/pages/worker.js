// Keeps the page for a start without a network, and shows what is pushed. Answers go by the page alone.
"use strict";

const SHELL = "switchboard-1", FILES = ["./", "page.js", "card.js", "signing.js", "wire.js", "notices.js", "page.css", "manifest.webmanifest", "icon.svg"];

// Nothing but the page itself is kept: not what it asks for.
const KEPT = new Set(FILES.map((one) => new URL(one, location).pathname));

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(SHELL).then((shell) => shell.addAll(FILES)).then(() => self.skipWaiting()));
});
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const { request } = event, { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin || !KEPT.has(pathname)) return;
  // The newest where there is a network: a page of an older server would sign what no core knows.
  event.respondWith(fetch(request).then(async (answer) => {
    if (answer.ok) await (await caches.open(SHELL)).put(request, answer.clone());
    return answer;
  }, async (error) => {
    const kept = await caches.match(request, { ignoreSearch: true });
    if (kept) return kept;
    throw error;
  }));
});

self.addEventListener("push", (event) => {
  let said = {};
  try { said = event.data.json(); } catch { /* Something waits all the same. */ }
  event.waitUntil(self.registration.showNotification("Switchboard", {
    body: said.body ?? "Something waits for you.", tag: said.tag ?? "", icon: "icon.svg", requireInteraction: true,
  }));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(self.clients.matchAll({ type: "window" }).then((open) => (open[0] ? open[0].focus() : self.clients.openWindow("./"))));
});
