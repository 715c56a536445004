/* The place in Home, which other devices share. */

import { topArticle } from "./insertions.client.ts"

/** Time after the last scrolling at which the place is saved, in milliseconds. */
const idleMillis = 1_000

const isHome = location.pathname === "/home"
let saved = 0n
let hasScrolled = false

/** Saves the place, if the reader has scrolled Home to newer posts than at the last time. */
export const savePlace = async (): Promise<void> => {
  const id = topArticle()?.id.slice("status-".length)
  const token = document.querySelector<HTMLInputElement>("main input[name=authenticity_token]")?.value
  if (!isHome || !hasScrolled || id === undefined || token === undefined || !/^\d+$/.test(id) || BigInt(id) <= saved) {
    return
  }
  saved = BigInt(id)
  await fetch("/web/markers", {
    method: "POST",
    body: new URLSearchParams([["authenticity_token", token], ["id", id]]),
    headers: { "x-murmuration-part": "marker" },
    keepalive: true
  })
}

let idleTimer: ReturnType<typeof setTimeout> | undefined
addEventListener("scroll", () => {
  hasScrolled = true
  clearTimeout(idleTimer)
  idleTimer = setTimeout(() => void savePlace().catch(() => undefined), idleMillis)
}, { passive: true })
