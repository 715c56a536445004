/* The composer: counts characters, saves drafts, uploads files with progress, picks emoji and completes names. */

import { complete } from "./completion.client.ts"
import { draftFields, draftOf, postFields, saveTyped } from "./drafts.client.ts"
import { emojiPicker } from "./emojis.client.ts"
import { files } from "./files.client.ts"
import { fill, isBlank, isSame, textsOf, type Typed, typedOf } from "./typed.client.ts"
import { storageOf, type Unsaved } from "./unsaved.client.ts"

/** Pause in typing before a draft is saved, in milliseconds. */
const pauseMillis = 2_000

const segmenter = new Intl.Segmenter()
const plurals = new Intl.PluralRules(document.documentElement.lang)

/** Counts as the server does: a link as 23 characters, a name without its server. The server corrects it. */
const countOf = (text: string): number => {
  const counted = text.replace(/https?:\/\/\S+/g, "x".repeat(23)).replace(/(^|[^\w/])(@\w+)@[\w.-]+\w/g, "$1$2")
  let count = 0
  for (const _ of segmenter.segment(counted)) count++
  return count
}

const composer = (form: HTMLFormElement): void => {
  const texts = () => [...form.querySelectorAll<HTMLTextAreaElement>("textarea[name=text], textarea[name='more[]']")]
  const field = (name: string) => form.querySelector<HTMLInputElement>(`input[name="${name}"]`)
  const spoiler = () => field("spoiler_text")?.value ?? ""
  const state = form.querySelector<HTMLElement>("[data-saved]")
  const isEdit = field("edit") !== null
  const storage = storageOf(form)
  let timer: ReturnType<typeof setTimeout> | undefined
  let running: Promise<void> | undefined
  let restoring = true
  let confirmed = field("draft") === null ? null : typedOf(form)
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

  /** Keeps what was typed in this browser until the server confirms it; `sent` tells that the form was submitted. */
  const remember = (sent = false) => {
    if (restoring) return
    const typed = typedOf(form)
    if (isBlank(typed)) return storage.forget()
    storage.write({ typed, confirmed, draft: field("draft")?.value ?? null, key: field("key")?.value ?? "", sent })
  }
  const setDraft = (id: string | null) => {
    const known = field("draft")
    if (id === null) known?.remove()
    else if (known !== null) known.value = id
    else form.append(Object.assign(document.createElement("input"), { type: "hidden", name: "draft", value: id }))
  }
  const save = async () => {
    changed = false
    underWay = true
    try {
      const typed = typedOf(form)
      const { draft, left } = await postFields(form, draftFields(form))
      failed = false
      confirmed = typed
      if (draft !== null && field("draft") === null) setDraft(draft)
      left.forEach((one, index) => changed || show(index, one))
      if (isEdit) return
      if (changed) remember()
      else storage.forget()
      if (state !== null && draft !== null) state.textContent = state.dataset["saved"] ?? ""
    } catch {
      changed = true
      failed = true
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
    remember()
    clearTimeout(timer)
    timer = setTimeout(saveNext, pauseMillis)
  })
  addEventListener("pagehide", () => {
    // A save under way ends with the page. A browser may lose the beacon, too: the next visit finds the text in storage.
    if (!(changed || underWay) || sending) return
    if (!isEdit && !failed && navigator.onLine) navigator.sendBeacon(form.action, draftFields(form))
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
      running = undefined
      // Not before the event has ended: a form that is being submitted ignores the call.
      setTimeout(() => {
        sending = false
        form.requestSubmit(submitter)
      })
    })
  })
  /** Fills in what the server has not confirmed. A person may have typed since the page was loaded. */
  const refill = (unsaved: Unsaved, loaded: Typed) => {
    const since = typedOf(form)
    fill(
      form,
      isSame(since, loaded) ? unsaved.typed : [...unsaved.typed, ...textsOf(since).map((value) => ["", value] as const)]
    )
    changed = !isEdit && !unsaved.sent
  }
  /**
   * Restores what the server has not confirmed. A sent form is only filled again if the browser went back to it. A draft
   * that was published or deleted stays so; one that was changed elsewhere stays as it is beside a new one.
   */
  const restore = async () => {
    const [navigation] = performance.getEntriesByType("navigation")
    const isBackNavigation = navigation instanceof PerformanceNavigationTiming && navigation.type !== "navigate"
    const unsaved = await storage.takeOver(isBackNavigation)
    if (unsaved === undefined) return
    const loaded = typedOf(form)
    if (isEdit || unsaved.sent) return refill(unsaved, loaded)
    try {
      const id = unsaved.draft ?? await saveTyped(form, unsaved.typed, unsaved.key)
      const theirs = id === null ? undefined : await draftOf(id)
      if (theirs === undefined || unsaved.draft !== null && isSame(theirs, unsaved.typed)) return storage.forget()
      setDraft(unsaved.confirmed === null || isSame(theirs, unsaved.confirmed) ? id : null)
      confirmed = theirs
    } catch {
      // Without a connection, the next save decides.
      setDraft(unsaved.draft)
      const key = field("key")
      if (key !== null && unsaved.draft === null) key.value = unsaved.key
    }
    refill(unsaved, loaded)
  }
  // The page of the browser's history may be sent again.
  addEventListener("pageshow", () => sending = false)

  const restored = restore().finally(() => {
    if (running === restored) running = undefined
    restoring = false
    if (changed) remember()
    form.dataset["restored"] = ""
    count()
  })
  running = restored
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
