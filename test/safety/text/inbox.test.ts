import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { there } from "../../http/activitypub/InboxCalls.ts"
import { deliverFrom, sendBody, servers, settled } from "../../http/activitypub/Sending.ts"
import { newPerson, publish } from "../../support/Api.ts"
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

  it.effect(
    `block the event loop for ${pauseMillisMax} ms at most, in any property of any other activity`,
    () =>
      Effect.gen(function*() {
        const { baseUrl } = yield* TestServer
        const bob = yield* newPerson("bob")
        const zoe = yield* there("zoe")
        const me = `${baseUrl}/users/bob`
        const { uri } = yield* publish(bob, "hello")
        const texts = [filled("\u0301\u0316", textUnits), mixedText(textUnits), filled("z1", textUnits)]
        const object = { id: `${zoe.id}/objects/1`, attributedTo: zoe.id, to: [me] }
        const note = { ...object, type: "Note", content: "x", inReplyTo: uri }
        const activities: ReadonlyArray<readonly [base: Readonly<Record<string, unknown>>, properties: string]> = [
          [{ type: "Like", object: uri }, "content tag object"],
          [{ type: "EmojiReact", object: uri, content: "🐻" }, "content tag object"],
          [{ type: "Flag", object: [me, uri] }, "content object"],
          [{ type: "Announce", object: uri, to: [me] }, "object to published content"],
          [{ type: "Follow", object: me }, "object id"],
          [{ type: "Block", object: me }, "object"],
          [{ type: "Undo", object: { type: "Block", actor: zoe.id, object: me } }, "object"],
          [{ type: "Accept", object: { type: "Follow", actor: me, object: zoe.id } }, "object result"],
          [{ type: "QuoteRequest", object: uri, instrument: { ...note, quote: uri } }, "object instrument"],
          [{ type: "ReplyRequest", object: uri, instrument: note }, "object instrument"],
          [{ type: "FeatureRequest", object: me, instrument: { ...object, type: "FeaturedCollection" } }, "instrument"],
          [{ type: "Add", object: { type: "Hashtag", name: "#a" }, target: `${zoe.id}/tags` }, "object target"],
          [{ type: "Move", object: zoe.id, target: me }, "target"],
          [{ type: "Delete", object: { id: object.id, type: "Tombstone" } }, "object"],
          [{ type: "Create", object: note, proof: { type: "DataIntegrityProof" } }, "proof signature @context type"]
        ]
        const members = "name summary content url tag attachment icon image publicKey assertionMethod webfinger"
        const actor = { id: zoe.id, type: "Person", preferredUsername: "zoe", inbox: `${zoe.id}/inbox` }
        const sent = [
          ...activities.flatMap(([base, properties]) =>
            properties.split(" ").flatMap((property) =>
              texts.flatMap((text) =>
                [text, { type: "Note", id: `${zoe.id}/n`, name: text, content: text, proofValue: text, href: text }]
                  .map((value) => [`${base["type"]} ${property}`, { ...base, [property]: value }] as const)
              )
            )
          ),
          ...members.split(" ").flatMap((member) =>
            texts.flatMap((text) =>
              [text, [{ type: "PropertyValue", name: text, value: text, publicKeyMultibase: `z${text}` }]]
                .map((value) =>
                  [`Update ${member}`, { type: "Update", object: { ...actor, [member]: value } }] as const
                )
            )
          )
        ]
        yield* deliverFrom(zoe, { type: "Create", object: note })
        const slow: Array<string> = []
        let accepted = 0
        for (const [at, [about, given]] of sent.entries()) {
          const body = JSON.stringify({
            "@context": "https://www.w3.org/ns/activitystreams",
            id: `${zoe.id}/activities/${at}`,
            actor: zoe.id,
            ...given
          })
          let least = Infinity
          for (let tries = 0; tries < triesMax && least >= pauseMillisMax; tries++) {
            const [status, pause] = yield* pauseIn(Effect.tap(sendBody(zoe, body), () => settled))
            assert.isBelow(status, 500, about)
            accepted += status === 202 ? 1 : 0
            least = Math.min(least, pause)
          }
          if (least >= pauseMillisMax) slow.push(`${about}: ${Math.round(least)} ms`)
        }
        // Most of them must pass the first checks.
        assert.isAbove(accepted, sent.length / 2)
        assert.deepStrictEqual(slow, [])
        yield* assertServed(bob, "all of them")
      })
  )
})
