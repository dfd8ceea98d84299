/* Keeps the app's own files, so that the second visit needs no network. Of other sites nothing is kept. */
"use strict";

const { version, files } = self.BUILD; // written above this line by the build

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(version).then((kept) => kept.addAll(files)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  const old = (names) => names.filter((name) => name !== version).map((name) => caches.delete(name));
  event.waitUntil(caches.keys().then((names) => Promise.all(old(names))).then(() => self.clients.claim()));
});

self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (url.origin !== location.origin || event.request.method !== "GET") return;
  const options = { ignoreSearch: event.request.mode === "navigate" };
  event.respondWith((async () => {
    const kept = await caches.open(version);
    const found = await kept.match(event.request, options);
    if (found) return found;
    const answer = await fetch(event.request);
    if (answer.ok && url.pathname.endsWith(".zip")) kept.put(event.request, answer.clone());
    return answer;
  })());
});
