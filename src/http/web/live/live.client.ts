/*
 * Follows what happens: new posts announce themselves, edits, counts and deletions change articles in place. Nothing
 * moves that one reads. Idle tabs close their stream, and catch up when one returns.
 */

import { remove } from "../acts/acts.client.ts"
import { noteIdOf, removeDismissed } from "../notifications/dismissed.client.ts"
import { recount } from "./badge.client.ts"
import { articleOf, gather, nearestIds, refresh, shownIds } from "./changes.client.ts"
import { gathered } from "./gather.client.ts"
import { articlesOf, fetchPage, insertAbove } from "./insertions.client.ts"
import { savePlace } from "./marker.client.ts"

/** Time after which a hidden tab closes its stream, and pauses before a stream opens again, in milliseconds. */
const hiddenMillisMax = 60_000
const pauseMillis = { first: 2_000, max: 120_000 } as const
/** Interval at which counts on the screen are refreshed, in milliseconds. */
const refreshMillis = 60_000
/** Distance from the top at which newer posts are loaded, in pixels. */
const nearTop = 1_500

const { stream = "" } = document.body.dataset
const region = document.querySelector<HTMLElement>("#live")
const labels: ReadonlyArray<string> = JSON.parse(region?.dataset["labels"] ?? "[]")
const feed = document.querySelector<HTMLElement>("main .feed")
const isFirstPage = !/[?&](?:max_id|min_id)=/.test(location.search)
const isNotifications = location.pathname === "/notifications"
const onlyMentions = new URLSearchParams(location.search).get("type") === "mentions"

/* New posts, and notifications. */

const fresh = new Set<string>()

const announce = (): void => {
  if (region === null || labels.length === 0) return
  const count = fresh.size + loaded.length
  if (count === 0) return region.replaceChildren()
  const label = labels[Math.min(count, labels.length) - 1] ?? ""
  const known = region.querySelector("button")
  const button = known ?? document.createElement("button")
  if (button.textContent !== label) button.textContent = label
  if (known === null) region.replaceChildren(button)
}

const arrive = (id: string): void => {
  if (isNotifications || labels.length === 0 || !isFirstPage || fresh.has(id) || articleOf(id).length > 0) return
  fresh.add(id)
  announce()
}

/** Announces a notification that the page does not show. */
const notify = (id: string): void => {
  if (!isNotifications || labels.length === 0 || fresh.has(id)) return
  const newest = feed?.querySelector("article")
  if (newest && BigInt(id) <= BigInt(noteIdOf(newest))) return
  fresh.add(id)
  announce()
}

/** Removes entries whose notifications no longer exist, and counts the announced ones again. */
const prune = gathered(async () => {
  if (!isNotifications || feed === null) return
  // Others may arrive while the page is fetched.
  const before = [...fresh]
  const ids = await removeDismissed()
  if (ids === undefined) return
  for (const id of before) fresh.delete(id)
  for (const id of ids) notify(id)
  announce()
})

/** Shows the announced posts above the others; the reader is then at the newest. */
const showNew = async (): Promise<void> => {
  // A new notification may have joined a group further down.
  if (isNotifications) return location.assign(location.pathname + location.search)
  const page = await fetchPage(location.href)
  const articles = page === undefined ? [] : articlesOf(page)
  // More than a page of posts has arrived: reloads, so that no post is missing.
  if (feed === null || page === undefined || !articles.some(({ id }) => document.getElementById(id) !== null)) {
    return location.reload()
  }
  const [first] = insertAbove(feed, articles)
  fresh.clear()
  announce()
  if (first === undefined) return
  first.tabIndex = -1
  first.focus({ preventScroll: true })
  first.scrollIntoView({ block: "start" })
}

/* Newer posts above, on a page that starts in the middle of a timeline. */

let newer = document.querySelector<HTMLAnchorElement>("main a[rel=prev]")?.href
let loaded: ReadonlyArray<HTMLElement> = []
let isLoading = false

const insertLoaded = (): void => {
  if (feed === null || loaded.length === 0) return
  insertAbove(feed, loaded)
  loaded = []
  announce()
}

/** Inserts loaded items while the start of the list is off the screen; otherwise they wait for a press. */
const place = (): void => {
  if (feed !== null && feed.getBoundingClientRect().top < 0) insertLoaded()
  else announce()
}

const loadNewer = async (): Promise<void> => {
  if (loaded.length > 0) return place()
  if (newer === undefined || feed === null || isLoading || scrollY > nearTop) return
  isLoading = true
  try {
    const page = await fetchPage(newer)
    if (page === undefined) return
    loaded = articlesOf(page)
    newer = loaded.length === 0 ? undefined : page.querySelector<HTMLAnchorElement>("main a[rel=prev]")?.href
    place()
  } finally {
    isLoading = false
  }
}

region?.addEventListener("click", ({ target }) => {
  if (!(target instanceof HTMLButtonElement)) return
  if (loaded.length > 0) insertLoaded()
  else showNew().catch(() => location.reload())
})

addEventListener("scroll", () => void loadNewer().catch(() => undefined), { passive: true })

/* The stream. */

let source: EventSource | undefined
let pause: number = pauseMillis.first
/** True after the stream failed, until it opens again: its events are lost. */
let isBehind = false

const dataOf = ({ data }: MessageEvent<string>): Readonly<Record<string, string | undefined>> => JSON.parse(data)

/** Last notification that was read on any device, if an event named it. */
let readUpTo: string | undefined

/** Tells the other scripts of the page that follows, requests or blocks of the reader may have changed. */
const tellRelations = () => document.dispatchEvent(new Event("relations"))

const open = (): void => {
  if (source !== undefined || stream === "") return
  const opened = source = new EventSource(stream)
  opened.addEventListener("open", () => {
    pause = pauseMillis.first
    // One may have arrived after the page was written.
    if (isNotifications) announceNewer().catch(() => undefined)
    if (isBehind) catchUp().catch(() => undefined)
    isBehind = false
  })
  opened.addEventListener("update", (event) => arrive(dataOf(event).id ?? ""))
  opened.addEventListener("edit", (event) => gather(dataOf(event).id ?? ""))
  opened.addEventListener("delete", (event) => {
    const { id = "" } = dataOf(event)
    if (fresh.delete(id)) announce()
    // Its notifications are deleted as well.
    if (isNotifications && feed?.querySelector(`[href*="/${CSS.escape(id)}"]`)) prune()
    else for (const article of articleOf(id)) remove(article)
    recount()
  })
  opened.addEventListener("dismissed", () => {
    recount()
    prune()
  })
  opened.addEventListener("notification", (event) => {
    const { id, status, type } = dataOf(event)
    recount()
    if (id !== undefined && (!onlyMentions || type === "mention")) notify(id)
    if (status !== undefined) gather(status)
  })
  opened.addEventListener("unread", (event) => {
    const { id } = dataOf(event)
    if (id !== undefined && id === readUpTo) return
    readUpTo = id
    recount()
  })
  opened.addEventListener("relations", tellRelations)
  opened.addEventListener("error", () => {
    isBehind = true
    // The browser opens a stream again that broke off, but not one that was refused.
    if (opened.readyState !== EventSource.CLOSED || source !== opened) return
    source = undefined
    setTimeout(() => document.visibilityState === "visible" && open(), pause)
    pause = Math.min(2 * pause, pauseMillis.max)
  })
}

const close = (): void => {
  source?.close()
  source = undefined
}

/** Announces what a new page has and this one has not. */
const announceNewer = async (): Promise<void> => {
  if (labels.length === 0 || !isFirstPage) return
  const page = await fetchPage(location.href)
  for (const article of page === undefined ? [] : articlesOf(page)) {
    if (isNotifications) {
      notify(noteIdOf(article))
      continue
    }
    const { id } = article
    const newest = feed?.querySelector("article")?.id.slice("status-".length)
    const own = id.slice("status-".length)
    if (newest === undefined || BigInt(own) > BigInt(newest)) arrive(own)
  }
}

/** Fetches what the stream would have sent while it was closed. */
const catchUp = async (): Promise<void> => {
  recount()
  prune()
  tellRelations()
  await refresh(nearestIds())
  // The page of notifications does this whenever its stream opens.
  if (!isNotifications) await announceNewer()
}

let hiding: ReturnType<typeof setTimeout> | undefined
document.addEventListener("visibilitychange", () => {
  clearTimeout(hiding)
  if (document.visibilityState === "hidden") {
    void savePlace().catch(() => undefined)
    hiding = setTimeout(close, hiddenMillisMax)
    return
  }
  if (source !== undefined) return recount()
  open()
  catchUp().catch(() => undefined)
})
addEventListener("pagehide", close)
// A page of the browser's history is shown as it was left.
addEventListener("pageshow", ({ persisted }) => {
  if (!persisted) return
  open()
  catchUp().catch(() => undefined)
})
setInterval(() => {
  if (document.visibilityState !== "visible") return
  recount()
  prune()
  refresh(shownIds()).catch(() => undefined)
}, refreshMillis)
open()
loadNewer().catch(() => undefined)
