import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { there } from "../../http/activitypub/InboxCalls.ts"
import { sendBody, servers, settled } from "../../http/activitypub/Sending.ts"
import { newPerson } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"
import { assertServed } from "../hostile/Pages.ts"
import { pauseIn } from "./Pauses.ts"
import { filled, mixedText, worstTexts } from "./worstTexts.ts"

/** Maximum time for which the event loop may be blocked, in CPU milliseconds. */
const pauseMillisMax = 50
const triesMax = 4
/** Length of a text in an activity, in UTF-16 code units. */
const textUnits = 240_000

const properties = [
  "content summary name contentMap source tag attachment url to cc inReplyTo quote quoteUrl context interactionPolicy",
  "replies published type"
].join(" ").split(" ")

layer(servers, { excludeTestServices: true })("F104: the worst texts of other servers", (it) => {
  it.effect(
    `block the event loop for ${pauseMillisMax} ms at most, from the inbox to their effect`,
    () =>
      Effect.gen(function*() {
        const { baseUrl } = yield* TestServer
        const ada = yield* newPerson("ada")
        const eve = yield* there("eve")
        const me = `${baseUrl}/users/ada`
        const kinds = worstTexts(textUnits).map(([, text]) => text)
        const texts = [filled("\u0301\u0316", textUnits), mixedText(textUnits)]
        const slow: Array<string> = []
        let sent = 0
        const create = (property: string, value: unknown) => {
          const id = `${eve.id}/notes/${sent++}`
          const object = { id, type: "Note", attributedTo: eve.id, content: "<p>x</p>", to: [me], [property]: value }
          return JSON.stringify({
            "@context": "https://www.w3.org/ns/activitystreams",
            id: `${id}/create`,
            type: "Create",
            actor: eve.id,
            to: [me],
            object
          })
        }
        const actions = properties.flatMap((property, at) =>
          [texts[0], texts[1], kinds[at % kinds.length]].map((text = "") =>
            [
              property,
              property === "contentMap" ? { en: text } : at % 2 === 0 ? text : [text, { name: text.slice(0, 999) }]
            ] as const
          )
        )
        // The sender is known before the measurements.
        yield* sendBody(eve, create("content", "<p>hello</p>"))
        yield* settled
        for (const [property, value] of actions) {
          let least = Infinity
          for (let tries = 0; tries < triesMax && least >= pauseMillisMax; tries++) {
            const [status, pause] = yield* pauseIn(
              Effect.tap(sendBody(eve, create(property, value)), () => settled)
            )
            assert.isBelow(status, 500, property)
            least = Math.min(least, pause)
          }
          if (least >= pauseMillisMax) slow.push(`${property}: ${Math.round(least)} ms`)
        }
        assert.deepStrictEqual(slow, [])
        yield* assertServed(ada, "all of them")
      })
  )
})
