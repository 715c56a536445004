/* The composer: counts characters, saves drafts, uploads files with progress, picks emoji and completes names. */

import { complete } from "./completion.client.ts"
import { emojiPicker } from "./emojis.client.ts"
import { files } from "./files.client.ts"

/** Pause in typing before a draft is saved, in milliseconds. */
const pauseMillis = 2_000

/** Prefix of keys in the browser's storage, for text that could not be sent to the server. */
const storagePrefix = "compose:"

interface Saved {
  readonly draft: string | null
  readonly left: ReadonlyArray<number>
}

const segmenter = new Intl.Segmenter()
const plurals = new Intl.PluralRules(document.documentElement.lang)

/** Counts as the server does: a link as 23 characters, a name without its server. The server corrects it. */
const countOf = (text: string): number => {
  const counted = text.replace(/https?:\/\/\S+/g, "x".repeat(23)).replace(/(^|[^\w/])(@\w+)@[\w.-]+\w/g, "$1$2")
  let count = 0
  for (const _ of segmenter.segment(counted)) count++
  return count
}

/** Texts that this browser kept for a page. */
const keptAt = (place: string): { readonly written: ReadonlyArray<string>; readonly sent: boolean } | undefined => {
  const kept: unknown = JSON.parse(localStorage.getItem(place) ?? "null")
  if (typeof kept !== "object" || kept === null || !("written" in kept) || !Array.isArray(kept.written)) {
    return undefined
  }
  return { written: kept.written.map(String), sent: "sent" in kept && kept.sent === true }
}

const composer = (form: HTMLFormElement): void => {
  const texts = () => [...form.querySelectorAll<HTMLTextAreaElement>("textarea[name=text], textarea[name='more[]']")]
  const field = (name: string) => form.querySelector<HTMLInputElement>(`input[name="${name}"]`)
  const spoiler = () => field("spoiler_text")?.value ?? ""
  const state = form.querySelector<HTMLElement>("[data-saved]")
  const isEdit = field("edit") !== null
  const place = [storagePrefix, form.dataset["compose"], location.pathname, location.search].join("")
  let timer: ReturnType<typeof setTimeout> | undefined
  let running: Promise<void> | undefined
  let changed = false
  let underWay = false
  let sending = false
  let failed = false

  const show = (index: number, left: number) => {
    const output = form.querySelectorAll<HTMLElement>("[data-left]")[index]
    if (output === undefined) return
    const labels: Readonly<Record<string, string>> = JSON.parse(output.dataset["labels"] ?? "{}")
    output.textContent = (labels[plurals.select(left)] ?? labels["other"] ?? "%").replace("%", String(left))
    output.classList.toggle("over", left < 0)
  }
  const count = () =>
    texts().forEach((one, index) => {
      const output = form.querySelectorAll<HTMLElement>("[data-left]")[index]
      const max = Number(output?.dataset["max"] ?? 0)
      show(index, max - countOf(one.value) - (index === 0 ? countOf(spoiler()) : 0))
    })

  /** Fields without files, which are uploaded on their own. */
  const fields = () => {
    const data = new FormData(form)
    data.delete("file")
    data.set("act", "autosave")
    return data
  }
  /** Keeps the texts in this browser; `sent` tells that the form was submitted. */
  const remember = (sent = false) => {
    const written = texts().map(({ value }) => value)
    if (written.some((one) => one.trim() !== "")) localStorage.setItem(place, JSON.stringify({ written, sent }))
  }
  const forget = () => localStorage.removeItem(place)

  const save = async () => {
    changed = false
    underWay = true
    try {
      const response = await fetch(form.action, { method: "POST", body: fields() })
      if (!response.ok || response.redirected) throw new Error(String(response.status))
      failed = false
      const { draft, left }: Saved = await response.json()
      if (draft !== null && field("draft") === null) {
        form.append(Object.assign(document.createElement("input"), { type: "hidden", name: "draft", value: draft }))
      }
      left.forEach((one, index) => changed || show(index, one))
      if (isEdit) return
      forget()
      if (state !== null && draft !== null) state.textContent = state.dataset["saved"] ?? ""
    } catch {
      changed = true
      failed = true
      remember()
      if (state !== null) state.textContent = state.dataset["unsaved"] ?? ""
    } finally {
      underWay = false
    }
  }
  /** Saves once the previous save has ended: the second one knows the draft of the first. */
  const saveNext = () => {
    clearTimeout(timer)
    running = (running ?? Promise.resolve()).then(() => changed && !sending ? save() : undefined)
    return running
  }

  form.addEventListener("input", (event) => {
    if (event.target instanceof HTMLInputElement && event.target.type === "file") return
    changed = true
    count()
    if (isEdit) remember()
    clearTimeout(timer)
    timer = setTimeout(saveNext, pauseMillis)
  })
  addEventListener("pagehide", () => {
    // A save under way ends with the page.
    if (!(changed || underWay) || sending) return
    // Unlike a request that outlives its page, a beacon is sent even if the page goes at once.
    const isSent = !isEdit && !failed && navigator.onLine && navigator.sendBeacon(form.action, fields())
    if (!isSent) remember()
  })
  // A save under way ends first, so that the post takes its draft. A second press waits with the first.
  form.addEventListener("submit", (event) => {
    if (sending) return event.preventDefault()
    sending = true
    clearTimeout(timer)
    const { submitter } = event
    remember(true)
    if (running === undefined) return
    event.preventDefault()
    void running.finally(() => {
      sending = false
      running = undefined
      form.requestSubmit(submitter)
    })
  })
  /**
   * Fills in the text that was not sent to the server. A sent form is only filled again if the browser went back to it.
   */
  const restore = () => {
    const kept = keptAt(place)
    const [first] = texts()
    if (kept === undefined || first === undefined) return
    const [navigation] = performance.getEntriesByType("navigation")
    const wentBack = navigation instanceof PerformanceNavigationTiming && navigation.type !== "navigate"
    if (kept.sent && !wentBack) return forget()
    if (!isEdit && texts().some(({ value }) => value.trim() !== "")) return
    if (texts().length === kept.written.length) texts().forEach((one, index) => one.value = kept.written[index] ?? "")
    else first.value = kept.written.join("\n\n")
    changed = !isEdit && !kept.sent
  }
  // The page of the browser's history may be sent again.
  addEventListener("pageshow", () => sending = false)

  restore()
  const zone = field("zone")
  const at = form.querySelector<HTMLInputElement>("input[name=at]")
  if (zone !== null && at !== null && at.value === "") {
    zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone
    const hint = at.parentElement?.querySelector(".hint")
    if (hint) hint.textContent = hint.textContent?.replace(/: .*$/, `: ${zone.value}`) ?? ""
  }
  const touched = () => form.dispatchEvent(new Event("input"))
  count()
  files(form, touched)
  emojiPicker(form, touched)
  for (const one of texts()) complete(one, touched)
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return
    form.requestSubmit(form.querySelector<HTMLButtonElement>("button[value=post]"))
  })
}

for (const form of document.querySelectorAll<HTMLFormElement>("form[data-compose]")) composer(form)
