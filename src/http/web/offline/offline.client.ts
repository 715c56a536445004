/* Registers the service worker, which keeps the last Home for times without a network. */

if ("serviceWorker" in navigator && isSecureContext) {
  addEventListener("load", () => {
    // Without it everything works as long as there is a network.
    navigator.serviceWorker.register("/sw.js").catch(() => undefined)
  })
}
