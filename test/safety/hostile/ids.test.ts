import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { actorOf } from "../../http/activitypub/InboxCalls.ts"
import { note, OtherServer, type RemotePerson, sendBody, servers, settled } from "../../http/activitypub/Sending.ts"
import type { Json } from "../../services/federation/Peer.ts"
import { json, newPerson } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { TestServer } from "../../support/Server.ts"

/** Almost two thousand characters of three bytes each, in an order that compresses badly. */
const wide = String.fromCodePoint(...Array.from({ length: 1_900 }, (_, n) => 0x4e00 + (n * 7_919 + n * n) % 20_000))

/** Strings that Postgres cannot store in text, JSON or an index. */
const endings = ["\0", "\ud800x", wide, `#${wide}`]

/** Returns the paths of all texts in a document. */
const places = (value: unknown): ReadonlyArray<ReadonlyArray<string>> =>
  typeof value === "string"
    ? [[]]
    : typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([name, part]) => places(part).map((rest) => [name].concat(rest)))
    : []

/** Returns the document with an ending appended to one text. */
const ended = (value: unknown, [name, ...rest]: ReadonlyArray<string>, ending: string): unknown => {
  if (typeof value === "string") return value + ending
  if (Array.isArray(value)) return value.map((part, at) => String(at) === name ? ended(part, rest, ending) : part)
  return Object.fromEntries(
    Object.entries(value ?? {}).map(([key, part]) => [key, key === name ? ended(part, rest, ending) : part])
  )
}

let count = 0

/** Makes all activities about a local account and its post, under unused ids. */
const activitiesOf = (by: RemotePerson, me: string, post: string, poll: string): ReadonlyArray<Json> => {
  const mine = () => `${by.id}/${++count}`
  const full = (more: Json = {}): Json =>
    note(by, String(++count), {
      cc: [`${by.id}/followers`, me, mine()],
      summaryMap: { en: "w" },
      contentMap: { en: "c" },
      inReplyTo: mine(),
      updated: "2026-11-24T18:00:01Z",
      url: mine(),
      tag: [
        { type: "Mention", href: mine() },
        { type: "Hashtag", name: "#tag" },
        { type: "Emoji", name: ":blob:", icon: { type: "Image", url: mine() } },
        { type: "FeaturedCollection", id: mine() }
      ],
      attachment: [
        { type: "Image", mediaType: "image/png", url: mine(), name: "alt", icon: { url: mine() } },
        { type: "Link", href: "https://a.example/" }
      ],
      quote: mine(),
      quoteAuthorization: mine(),
      replyAuthorization: mine(),
      interactionPolicy: { canQuote: { automaticApproval: [mine()], manualApproval: [mine()] } },
      ...more
    })
  const collection = (): Json => ({
    id: `${by.id}/collection`,
    type: "FeaturedCollection",
    attributedTo: by.id,
    name: "c",
    url: mine(),
    topic: { type: "Hashtag", name: "#x" },
    orderedItems: [{ id: mine(), type: "FeaturedItem", featuredObject: mine(), featureAuthorization: mine() }]
  })
  const did = (type: string, more: Json = {}): Json => ({ id: mine(), type, actor: by.id, object: post, ...more })
  const asked = (name: string, type: string): Json => ({
    ...did(type),
    id: `${me}#${name}/1`,
    actor: me,
    instrument: mine()
  })
  const plain = { inReplyTo: undefined, quote: undefined, tag: [], attachment: [], interactionPolicy: undefined }
  return [
    did("Create", { object: full() }),
    did("Create", { object: full({ type: "Question", oneOf: [{ name: "x" }, { name: "y" }] }) }),
    did("Create", { object: { ...full(plain), name: "a", content: undefined, inReplyTo: poll } }),
    did("Create", { object: full({ ...plain, inReplyTo: post, quote: post }) }),
    did("Create", { object: mine() }),
    did("Update", { object: full(plain) }),
    did("Update", { object: mine() }),
    did("Update", { object: collection() }),
    did("Announce", { to: ["as:Public"], approvedBy: mine() }),
    did("Announce", { object: full(plain) }),
    did("Like", { content: "🎉" }),
    did("EmojiReact", { content: ":b:", tag: [{ type: "Emoji", id: mine(), name: ":b:", icon: { url: mine() } }] }),
    did("Follow", { object: me }),
    did("Block", { object: `${me}x` }),
    did("Flag", { object: [me, post], content: "bad" }),
    did("Move", { object: by.id, target: mine() }),
    did("Delete", { object: mine() }),
    did("Delete", { object: { type: "Tombstone", id: mine() } }),
    ...["Announce", "EmojiReact", "Like", "ReplyRequest"].map((type) => did("Undo", { object: did(type) })),
    did("Undo", { object: did("Follow", { object: me }) }),
    did("Undo", { object: mine() }),
    ...["Accept", "Reject"].flatMap((type) => [
      did(type, { object: { id: `${me}#follows/1`, type: "Follow", actor: me, object: by.id } }),
      did(type, { object: asked("quote_requests", "QuoteRequest"), result: mine() }),
      did(type, { object: asked("feature_requests", "FeatureRequest"), result: mine() }),
      did(type, { object: `${me}#interaction_requests/1`, result: mine() })
    ]),
    ...["Add", "Remove"].flatMap((type) => [
      did(type, { object: mine(), target: `${by.id}/featured` }),
      did(type, { object: collection(), target: `${by.id}/collections` }),
      did(type, { object: (collection()["orderedItems"] as ReadonlyArray<Json>)[0], target: `${by.id}/collection` })
    ]),
    did("FeatureRequest", { object: me, instrument: collection() }),
    did("FeatureRequest", { object: me, instrument: mine() }),
    did("QuoteRequest", { instrument: full({ ...plain, quote: post }) }),
    did("ReplyRequest", { instrument: full({ ...plain, inReplyTo: post }) }),
    did("LikeRequest", { instrument: did("Like") }),
    did("AnnounceRequest", { instrument: did("Announce") }),
    did("Create", { actor: mine(), object: full({ ...plain, inReplyTo: post }) })
  ]
}

layer(servers, { excludeTestServices: true })("ids that no database accepts", (it) => {
  it.effect("row 39: invalid ids in any field match nothing and cause no retries", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { actor, url } = yield* OtherServer
      const ada = yield* newPerson("ada")
      const me = yield* actorOf(ada)
      const id = `${url}/users/eve`
      const eve = yield* actor("eve", { featured: `${id}/featured`, featuredCollections: `${id}/collections` })
      const published = (body: Json) => json(ada, "/api/v1/statuses", body)
      const post = yield* published({ status: "hello" })
      const poll = yield* published({ status: "?", poll: { options: ["a", "b"], expires_in: 3_600 } })
      const { accounts: [found] } = yield* json(ada, `/api/v2/search?resolve=true&q=${encodeURIComponent(id)}`)
      yield* json(ada, `/api/v1/accounts/${found.id}/follow`, undefined, "POST")
      const failed: Array<string> = []
      for (const [at, example] of activitiesOf(eve, me, post.uri, poll.uri).entries()) {
        const kinds = places(example).filter((names) => names.at(-1) !== "type")
        const tries = kinds.flatMap((names) => endings.map((ending) => ({ names, ending })))
        yield* Effect.forEach(tries, ({ ending, names }) => {
          const fresh = activitiesOf(eve, me, post.uri, poll.uri)[at]
          const activity = {
            "@context": "https://www.w3.org/ns/activitystreams",
            ...(ended(fresh, names, ending) as Json)
          }
          return Effect.map(sendBody(eve, JSON.stringify(activity)), (status) => {
            if (status >= 500) failed.push(`${String(example["type"])} ${names.join(".")}: ${status}`)
          })
        }, { concurrency: 16, discard: true })
        yield* settled
        // Activities that wait for a post have not failed; the responses of its origin come soon.
        const left = sql`SELECT document FROM inbound_activities WHERE outcome IS NULL AND awaits IS NULL`
        yield* eventually(left, ({ length }) => length === 0)
        yield* sql`DELETE FROM inbound_activities`
        yield* sql`DELETE FROM errands`
      }
      assert.deepStrictEqual(failed.slice(0, 20), [], `${failed.length} failed`)
      // Objects with a valid id are still processed.
      assert.isAbove((yield* sql`SELECT FROM statuses WHERE NOT local AND reblog_of_id IS NULL`).length, 100)
    }))

  it.effect("row 39: they do not make the sender's own data fail either", () =>
    Effect.gen(function*() {
      const { fetch } = yield* TestServer
      const { actor, documents, domain, finger, fingers, url } = yield* OtherServer
      const bob = yield* newPerson("bob")
      const failed: Array<string> = []
      const about = (name: string): Json => {
        const mine = (more: string) => `${url}/users/${name}/${more}`
        return {
          summary: "s",
          name: "n",
          url: mine("page"),
          outbox: mine("outbox"),
          following: mine("following"),
          featured: mine("featured"),
          featuredTags: mine("tags"),
          featuredCollections: mine("collections"),
          alsoKnownAs: [mine("old")],
          movedTo: mine("new"),
          attributionDomains: ["a.example"],
          icon: { type: "Image", url: mine("icon"), summary: "s" },
          attachment: [{ type: "PropertyValue", name: "n", value: "v" }],
          tag: [{ type: "Emoji", name: ":blob:", icon: { url: mine("blob") } }],
          interactionPolicy: { canFeature: { automaticApproval: [mine("followers")] } },
          assertionMethod: [{ id: mine("#key"), controller: mine(""), publicKeyMultibase: "z6Mk" }]
        }
      }
      const shape = { ...about("x"), inbox: "", followers: "", endpoints: { sharedInbox: "" }, preferredUsername: "" }
      const keys = { publicKey: { id: "", owner: "", publicKeyPem: "" } }
      for (const names of places({ ...shape, ...keys, webfinger: { subject: "", links: [{ type: "", href: "" }] } })) {
        for (const ending of endings) {
          const name = `u${++count}`
          const by = yield* actor(name, about(name))
          const [path, resource] = [`/users/${name}`, `acct:${name}@${domain}`]
          if (names[0] === "webfinger") {
            fingers.set(resource, ended(finger(name, by.id), names.slice(1), ending) as Json)
          } else {
            const { publicKey, ...rest } = documents.get(path) as Json
            const listed = [publicKey, { ...(publicKey as Json), id: `${by.id}#second` }]
            const second = ended(listed[1], names.slice(1), ending)
            documents.set(
              path,
              names[0] === "publicKey"
                ? { ...rest, publicKey: [publicKey, second] }
                : ended({ ...rest, publicKey }, names, ending) as Json
            )
          }
          const label = `${names.join(".")} ${JSON.stringify(ending).slice(0, 20)}`
          const found = yield* fetch(`/api/v2/search?resolve=true&q=${encodeURIComponent(by.id)}`, { token: bob.token })
          if (found.status !== 200) failed.push(`search: ${label}: ${found.status}`)
          const status = yield* sendBody(
            by,
            JSON.stringify({
              "@context": "https://www.w3.org/ns/activitystreams",
              id: `${by.id}/1`,
              type: "Like",
              actor: by.id,
              object: "x"
            })
          )
          if (status >= 500) failed.push(`inbox: ${label}: ${status}`)
        }
      }
      assert.deepStrictEqual(failed, [])
    }))
})
