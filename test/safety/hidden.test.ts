import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { publishedId } from "../support/Api.ts"
import { type Person, TestServer } from "../support/Server.ts"
import { follow, get, idsAt, listen, post, type StreamEvent } from "./Calls.ts"

interface Cast {
  /** Viewer with a relation to the target. */
  readonly viewer: Person
  /** Account without relations that reads the same. */
  readonly control: Person
  readonly target: Person
  /** Account that everybody follows, and that talks with the target. */
  readonly bystander: Person
}

const about = (by: Person, verb: string, target: Person, json: unknown = {}) =>
  post(`/api/v1/accounts/${target.accountId}/${verb}`, by, json)

/** Hidden accounts are found by name, so that they can be unhidden (F34). */
const searches = ["accounts search", "search"]

/** Relations, and the surfaces that still show the target. */
const relations: Record<string, {
  readonly act: (cast: Cast) => Effect.Effect<unknown, unknown, TestServer | SqlClient.SqlClient>
  readonly meets: ReadonlyArray<string> | "everywhere"
}> = {
  "blocks": { act: ({ target, viewer }) => about(viewer, "block", target), meets: searches },
  "is blocked by": {
    act: ({ target, viewer }) => about(target, "block", viewer),
    meets: ["followers", "favourited_by"]
  },
  "mutes": { act: ({ target, viewer }) => about(viewer, "mute", target), meets: searches },
  "mutes for an hour": {
    act: ({ target, viewer }) => about(viewer, "mute", target, { duration: 3600 }),
    meets: searches
  },
  "mutes but for notifications": {
    act: ({ target, viewer }) => about(viewer, "mute", target, { notifications: false }),
    meets: [...searches, "notifications", "unread count", "notification groups", "stream user:notification"]
  },
  "muted until a moment ago": {
    act: Effect.fnUntraced(function*({ target, viewer }) {
      yield* about(viewer, "mute", target, { duration: 3600 })
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE mutes SET expires_at = '2026-01-01' WHERE account_id = ${viewer.accountId}`
    }),
    meets: "everywhere"
  }
}

const channels = [
  { stream: "public" },
  { stream: "public:local" },
  { stream: "hashtag", tag: "obst" },
  { stream: "user:notification" },
  { stream: "user" }
]

const accounts = (path: string, by: Person, target: Person) =>
  Effect.map(get(path, by), ({ body }) => JSON.stringify(body).includes(`"id":"${target.accountId}"`))

/** Surfaces that may show the target; each returns true if it does. */
const surfaces = Effect.fnUntraced(function*(by: Person, { bystander, target }: Cast, found: {
  readonly post: string
  readonly reply: string
  readonly reblog: string
  readonly thread: string
  readonly heard: ReadonlyArray<StreamEvent>
}) {
  const has = (path: string, id: string) => Effect.map(idsAt(path, by), (ids) => ids.includes(id))
  const inContext = Effect.map(
    get(`/api/v1/statuses/${found.thread}/context`, by),
    ({ text }) => text.includes(found.reply)
  )
  const count = Effect.map(get("/api/v1/notifications/unread_count", by), ({ body }) => body.count > 0)
  const heardOn = (stream: string, id: string) =>
    found.heard.some((event) => event.stream[0] === stream && event.payload.includes(id))
  const met: Record<string, boolean> = {
    "home": yield* has("/api/v1/timelines/home", found.post),
    "home, by a reblog": yield* has("/api/v1/timelines/home", found.reblog),
    "public": yield* has("/api/v1/timelines/public", found.post),
    "tag": yield* has("/api/v1/timelines/tag/obst", found.post),
    "batch": yield* has(`/api/v1/statuses?id[]=${found.post}`, found.post),
    "context": yield* inContext,
    "notifications": yield* accounts("/api/v1/notifications", by, target),
    "unread count": yield* count,
    "notification groups": yield* accounts("/api/v2/notifications", by, target),
    "accounts search": yield* accounts(`/api/v1/accounts/search?q=${target.username}`, by, target),
    "search": yield* accounts(`/api/v2/search?type=accounts&q=${target.username}`, by, target),
    "followers": yield* accounts(`/api/v1/accounts/${bystander.accountId}/followers`, by, target),
    "favourited_by": yield* accounts(`/api/v1/statuses/${found.thread}/favourited_by`, by, target),
    "stream user": heardOn("user", found.post),
    "stream user, by a reblog": heardOn("user", found.reblog),
    "stream user:notification": heardOn("user:notification", found.reply),
    "stream public": heardOn("public", found.post),
    "stream public:local": heardOn("public:local", found.post),
    "stream hashtag": heardOn("hashtag", found.post)
  }
  return met
})

/** Collects events up to the last post. */
const toTheEnd = Effect.fnUntraced(function*({ next }: { readonly next: Effect.Effect<StreamEvent> }) {
  const heard: Array<StreamEvent> = []
  const isLast = ({ payload, stream }: StreamEvent) => stream[0] === "user" && payload.includes("The end")
  while (!heard.some(isLast)) heard.push(yield* next)
  return heard
})

layer(TestServer.layer(), { excludeTestServices: true })("row 62: a viewer who", (it) => {
  for (const [name, { act, meets }] of Object.entries(relations)) {
    const where = meets === "everywhere" ? meets : meets.length === 0 ? "nowhere" : `in ${meets.join(", ")} only`
    it.effect(
      `${name} another meets them ${where}`,
      () =>
        Effect.gen(function*() {
          const { createPerson } = yield* TestServer
          const suffix = Object.keys(relations).indexOf(name)
          const cast: Cast = {
            viewer: yield* createPerson(`viewer${suffix}`),
            control: yield* createPerson(`control${suffix}`),
            target: yield* createPerson(`target${suffix}`),
            bystander: yield* createPerson(`bystander${suffix}`)
          }
          const { bystander, control, target, viewer } = cast
          for (const reader of [viewer, control]) for (const one of [target, bystander]) yield* follow(reader, one)
          yield* follow(target, bystander)
          yield* act(cast)

          const [ear, controlEar] = [yield* listen(viewer, ...channels), yield* listen(control, ...channels)]
          const thread = yield* publishedId(bystander, "A thread")
          const published = yield* publishedId(target, "Birnen #obst")
          // A reply to an unfollowed account reaches their homes only through a reblog.
          const stranger = yield* createPerson(`stranger${suffix}`)
          const aside = yield* publishedId(target, "Mispeln", {
            in_reply_to_id: yield* publishedId(stranger, "A word")
          })
          const names = [bystander, viewer, control].map(({ username }) => `@${username}`).join(" ")
          const reply = yield* publishedId(target, `${names} Quitten`, { in_reply_to_id: thread })
          yield* post(`/api/v1/statuses/${thread}/favourite`, target)
          // The control account is in the same fan-out slice, so the viewer's event is due at the same time.
          const early = yield* controlEar.until(reply)
          const { body: reblog } = yield* post(`/api/v1/statuses/${aside}/reblog`, bystander)
          yield* publishedId(bystander, "The end")
          const found = { post: published, reply, reblog: reblog.id, thread }

          const heard = [...early, ...yield* toTheEnd(controlEar)]
          const everything = yield* surfaces(control, cast, { ...found, heard })
          const missed = Object.keys(everything).filter((surface) => !everything[surface])
          assert.deepStrictEqual(missed, [], "whoever has done nothing meets them everywhere")
          const met = yield* surfaces(viewer, cast, { ...found, heard: yield* toTheEnd(ear) })
          const counted = Object.keys(met).filter((surface) => met[surface])
          assert.sameMembers(counted, meets === "everywhere" ? Object.keys(everything) : [...meets])
        }),
      180_000
    )
  }
})
