import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import type { Messages } from "../../../services/languages/Messages.ts"
import { html } from "../../html/Html.ts"
import { WebPages } from "../shell/WebPages.ts"
import type { places } from "./places.client.ts"

/** Keys of posts and of the page, and what they do. */
const keysOf = ({ say }: Messages): ReadonlyArray<readonly [keys: ReadonlyArray<string>, does: string]> => [
  [["j", "Alt+PageDown"], say("Next post")],
  [["k", "Alt+PageUp"], say("Previous post")],
  [["o", "Enter"], say("Open the post")],
  [["r"], say("Reply")],
  [["f"], say("Favourite")],
  [["b"], say("Boost")],
  [["q"], say("Quote")],
  [["m"], say("Mention the author")],
  [["p"], say("Open the author's profile")],
  [["t"], say("Translate")],
  [["e"], say("Open the media")],
  [["x"], say("Show or hide the text behind a content warning")],
  [["h"], say("Show or hide sensitive media")],
  [["n"], say("Write")],
  [["Alt+n"], say("New post")],
  [["Alt+x"], say("Write a content warning")],
  [["l"], say("Load more")],
  [["0"], say("To the top")],
  [["1", "9"], say("To a tab of the page")],
  [["s", "/"], say("Search")],
  [["Backspace"], say("Back")],
  [["Esc"], say("Leave the field")],
  [["?"], say("Show these keys")]
]

/** Lets a chord break after its plus, as on a narrow page. */
const brokenAt = (key: string) => {
  const [first, second] = key.split("+")
  return second === undefined ? key : html`${first}+<wbr>${second}`
}

const placesOf = ({ say }: Messages): Readonly<Record<keyof typeof places, string>> => ({
  h: say("Home"),
  n: say("Notifications"),
  l: say("Local"),
  t: say("Federated"),
  e: say("Explore"),
  d: say("Conversations"),
  s: say("About this server"),
  f: say("Favourites"),
  p: say("Pinned posts"),
  u: say("Your profile"),
  b: say("Blocked accounts"),
  m: say("Muted accounts"),
  r: say("Follow requests")
})

const make = Effect.map(WebPages, (pages) =>
  HttpRouter.add(
    "GET",
    "/keys",
    pages.anyone(({ reader: { words, words: { say } } }) => {
      const row = (keys: ReadonlyArray<string>, does: string, between = " ") =>
        html`<tr><td>${
          keys.map((key, at) => html`${at === 0 ? "" : between}<kbd>${brokenAt(key)}</kbd>`)
        }</td><td>${does}</td></tr>`
      const table = (caption: string, rows: ReadonlyArray<ReturnType<typeof row>>) =>
        html`<table class="keys"><caption>${caption}</caption><thead><tr><th scope="col">${
          say("Key")
        }</th><th scope="col">${say("What it does")}</th></tr></thead><tbody>${rows}</tbody></table>`
      return Effect.succeed({
        title: say("Keys"),
        body: html`${
          table(say("On a page"), keysOf(words).map(([keys, does]) => row(keys, does, keys[1] === "9" ? "–" : " ")))
        }${table(say("Go to"), Object.entries(placesOf(words)).map(([key, does]) => row(["g", key], does)))}`
      })
    })
  ))

/** The page that lists the keys; a script opens it by `?`. */
export const layer = Layer.unwrap(make)
