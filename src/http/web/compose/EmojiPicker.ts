import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { CustomEmojis } from "../../../services/instance/CustomEmojis.ts"
import { type Html, html } from "../../html/Html.ts"
import { WebPages } from "../shell/WebPages.ts"
import { emojisPath } from "./ComposeForm.ts"

/** Common Unicode emoji, for keyboards without them. */
const common = [
  ..."😀😄😁😅😂🙂😉😊😍😘😎🤔😐🙄😴😢😭😡😱🥳🤗🤷🤦👍👎👏🙌🙏💪👀👋✌🤞❤🧡💛💚💙💜🖤💔✨⭐🌟🔥💯🎉🎂🎁🎵📷📚💻☕🍺🍕🍎🌱🌳🌸🌍🌈☀🌙❄🌧⚡🐶🐱🐦🐟🐝🦋🚲🚂🚗🏠⚽🏆❗❓✅❌⚠➡"
]

/** Maximum custom emoji on the page. */
const emojisMax = 2_000

const section = (title: string, items: ReadonlyArray<Html>): Html =>
  items.length === 0
    ? html``
    : html`<section class="panel"><h2>${title}</h2><ul class="emoji-list">${items}</ul></section>`

const make = Effect.gen(function*() {
  const emojis = yield* CustomEmojis
  const pages = yield* WebPages
  const page = pages.member(Effect.fnUntraced(function*({ reader: { words: { say } } }) {
    const listed = (yield* emojis.listed).slice(0, emojisMax)
    const categories = [...new Set(listed.map(({ category }) => category ?? ""))].toSorted()
    return {
      title: say("Emoji"),
      body: html`<p>${say("Copy an emoji, or its name with colons, into your post.")}</p>${
        categories.map((category) =>
          section(
            category === "" ? say("Emoji of this server") : category,
            listed.filter((one) => (one.category ?? "") === category).map(({ shortcode, staticUrl }) =>
              html`<li data-emoji=":${shortcode}:"><img class="emoji" src="${staticUrl}" alt="" loading="lazy"> <code>:${shortcode}:</code></li>`
            )
          )
        )
      }${section(say("Common emoji"), common.map((one) => html`<li data-emoji="${one}">${one}</li>`))}`
    }
  }))
  return HttpRouter.add("GET", emojisPath, page)
})

/** Emoji for posts: the server's own, and common ones. The composer's script makes its picker of this page. */
export const layer = Layer.unwrap(make)
