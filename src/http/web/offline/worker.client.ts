/*
 * Service worker: keeps the last Home to read without a network, and shows pushed notifications. Signing out clears it.
 */

/** Members of the worker's events, which the DOM types of pages lack. */
interface LastingEvent extends Event {
  readonly waitUntil: (work: Promise<unknown>) => void
}
interface FetchEvent extends LastingEvent {
  readonly request: Request
  readonly respondWith: (response: Promise<Response>) => void
}
interface PushEvent extends LastingEvent {
  readonly data: { readonly json: () => Pushed; readonly text: () => string } | null
}
interface NotificationEvent extends LastingEvent {
  readonly notification: Notification
}
interface Pushed {
  readonly title: string
  readonly body: string
  readonly icon: string
}
interface Events {
  readonly install: LastingEvent
  readonly activate: LastingEvent
  readonly fetch: FetchEvent
  readonly push: PushEvent
  readonly notificationclick: NotificationEvent
}
interface Worker {
  readonly addEventListener: <Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void) => void
  readonly skipWaiting: () => Promise<void>
  readonly registration: ServiceWorkerRegistration
  readonly clients: {
    readonly claim: () => Promise<void>
    readonly openWindow: (url: string) => Promise<unknown>
  }
}
declare const self: Worker

const pages = "home"
const assets = "assets"
/** Maximum stored files; files of older versions are removed first. */
const assetsMax = 60

const clear = () => Promise.all([caches.delete(pages), caches.delete(assets)])

/** Marks the page as one without a network: its notice, which waits in the data of scripts, appears, and its forms disappear. */
const readOnly = async (kept: Response): Promise<Response> => {
  const text = await kept.text()
  const notice = /<p id="offline"[^]*?<\/p>/.exec(text)?.[0] ?? ""
  const marked = text.replace(notice, "").replace("<body", `<body class="offline"`)
    .replace("</h1>", () => `</h1>${notice}`)
  return new Response(marked, {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": kept.headers.get("content-security-policy") ?? "default-src 'none'"
    }
  })
}

/** Requests a page from the server, and stores Home; without a network returns the stored one. */
const page = async (request: Request): Promise<Response> => {
  const { pathname, search } = new URL(request.url)
  try {
    const response = await fetch(request)
    if (pathname !== "/home" || search !== "") return response
    // After a sign-out nothing private stays in the browser.
    if (response.type === "opaqueredirect" || response.redirected) await clear()
    else if (response.ok) await (await caches.open(pages)).put("/home", response.clone())
    return response
  } catch (failure) {
    const kept = await (await caches.open(pages)).match("/home")
    if (kept === undefined) throw failure
    return readOnly(kept)
  }
}

/** Returns a file whose name contains its hash; it is requested only once. */
const asset = async (request: Request): Promise<Response> => {
  const cache = await caches.open(assets)
  const known = await cache.match(request)
  if (known !== undefined) return known
  const response = await fetch(request)
  if (!response.ok) return response
  await cache.put(request, response.clone())
  const all = await cache.keys()
  for (const old of all.slice(0, Math.max(0, all.length - assetsMax))) await cache.delete(old)
  return response
}

/** Files of pages: those with a hash in their names, and the colours of the server. */
const isAsset = (path: string) => path.startsWith("/assets/web/")

self.addEventListener("install", (event) => event.waitUntil(self.skipWaiting()))
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()))
self.addEventListener("fetch", (event) => {
  const { request } = event
  const { origin, pathname } = new URL(request.url)
  if (origin !== location.origin) return
  if (request.method !== "GET") {
    if (pathname === "/auth/sign_out") event.waitUntil(clear())
    return
  }
  if (request.mode === "navigate") event.respondWith(page(request))
  else if (isAsset(pathname)) event.respondWith(asset(request))
})
self.addEventListener("push", (event) => {
  if (event.data === null) return
  const { body, icon, title } = event.data.json()
  // The id is a number that JavaScript would round.
  const [, id = ""] = /"notification_id":\s*(\d+)/.exec(event.data.text()) ?? []
  const shown = { body, icon, tag: id, data: id === "" ? "/notifications" : `/notifications/${id}` }
  event.waitUntil(self.registration.showNotification(title, shown))
})
self.addEventListener("notificationclick", (event) => {
  event.notification.close()
  event.waitUntil(self.clients.openWindow(String(event.notification.data)))
})
