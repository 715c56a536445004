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

/** Sign-outs that this worker has seen: a Home that was requested before the last one is not stored. */
let signOuts = 0

const clear = async () => {
  signOuts++
  await Promise.all([caches.delete(pages), caches.delete(assets)])
}

/** Marks the page as one without a network: its notice, which waits in the data of scripts, appears, and its forms disappear. */
const readOnly = async (stored: Response): Promise<Response> => {
  const text = await stored.text()
  const notice = /<p id="offline"[^]*?<\/p>/.exec(text)?.[0] ?? ""
  const marked = text.replace(notice, "").replace("<body", `<body class="offline"`)
    .replace("</h1>", () => `</h1>${notice}`)
  return new Response(marked, {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": stored.headers.get("content-security-policy") ?? "default-src 'none'"
    }
  })
}

/** Stores Home, unless a sign-out came in between. */
const keepHome = async (response: Response, before: number) => {
  const cache = await caches.open(pages)
  if (before === signOuts) await cache.put("/home", response)
  else await clear()
}

/** Stores a file, and removes the oldest of too many. */
const keepFile = async (request: Request, response: Response) => {
  const cache = await caches.open(assets)
  await cache.put(request, response)
  const all = await cache.keys()
  for (const old of all.slice(0, Math.max(0, all.length - assetsMax))) await cache.delete(old)
}

/** Finishes a change of the storage after the response. The storage may be full or closed: pages work without it. */
const afterwards = (event: LastingEvent, change: Promise<unknown>) => event.waitUntil(change.catch(() => undefined))

const storedIn = (cacheName: string, request: Request | string) =>
  caches.match(request, { cacheName }).catch(() => undefined)

/** Requests a page from the server, and stores Home; without a network returns the stored one. */
const page = async (event: FetchEvent): Promise<Response> => {
  const { pathname, search } = new URL(event.request.url)
  const before = signOuts
  let response: Response
  try {
    response = await fetch(event.request)
  } catch (failure) {
    const storedHome = await storedIn(pages, "/home")
    if (storedHome === undefined) throw failure
    return readOnly(storedHome)
  }
  const isHome = pathname === "/home" && search === ""
  const leadsAway = response.type === "opaqueredirect" || response.redirected
  // After the end of a session nothing private stays in the browser.
  if (isHome ? leadsAway : pathname === "/auth/sign_in" && response.ok) afterwards(event, clear())
  else if (isHome && response.ok) afterwards(event, keepHome(response.clone(), before))
  return response
}

/** Returns a file whose name contains its hash; it is requested only once. */
const asset = async (event: FetchEvent): Promise<Response> => {
  const known = await storedIn(assets, event.request)
  if (known !== undefined) return known
  const response = await fetch(event.request)
  if (response.ok) afterwards(event, keepFile(event.request, response.clone()))
  return response
}

/** Files with a hash in their names; a file under any other name may change. */
const isAsset = (path: string) => /^\/assets\/web\/[^/]+\.[0-9a-f]{12}\.[a-z]+$/.test(path)

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
  if (request.mode === "navigate") event.respondWith(page(event))
  else if (isAsset(pathname)) event.respondWith(asset(event))
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
