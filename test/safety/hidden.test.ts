import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { publishedId } from "../support/Api.ts"
import { type Person, TestServer } from "../support/Server.ts"
import { follow, get, idsAt, listen, post, type StreamEvent } from "./Calls.ts"

interface TestAccounts {
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
  readonly act: (testAccounts: TestAccounts) => Effect.Effect<unknown, unknown, TestServer | SqlClient.SqlClient>
  readonly shownIn: ReadonlyArray<string> | "everywhere"
}> = {
  "blocks": { act: ({ target, viewer }) => about(viewer, "block", target), shownIn: searches },
  "is blocked by": {
    act: ({ target, viewer }) => about(target, "block", viewer),
    shownIn: ["followers", "favourited_by"]
  },
  "mutes": { act: ({ target, viewer }) => about(viewer, "mute", target), shownIn: searches },
  "mutes for an hour": {
    act: ({ target, viewer }) => about(viewer, "mute", target, { duration: 3600 }),
    shownIn: searches
  },
  "mutes but for notifications": {
    act: ({ target, viewer }) => about(viewer, "mute", target, { notifications: false }),
    shownIn: [...searches, "notifications", "unread count", "notification groups", "stream user:notification"]
  },
  "muted until a moment ago": {
    act: Effect.fnUntraced(function*({ target, viewer }) {
      yield* about(viewer, "mute", target, { duration: 3600 })
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE mutes SET expires_at = '2026-01-01' WHERE account_id = ${viewer.accountId}`
    }),
    shownIn: "everywhere"
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
const surfaces = Effect.fnUntraced(function*(by: Person, { bystander, target }: TestAccounts, found: {
  readonly post: string
  readonly reply: string
  readonly reblog: string
  readonly thread: string
  readonly events: ReadonlyArray<StreamEvent>
}) {
  const has = (path: string, id: string) => Effect.map(idsAt(path, by), (ids) => ids.includes(id))
  const inContext = Effect.map(
    get(`/api/v1/statuses/${found.thread}/context`, by),
    ({ text }) => text.includes(found.reply)
  )
  const count = Effect.map(get("/api/v1/notifications/unread_count", by), ({ body }) => body.count > 0)
  const eventOn = (stream: string, id: string) =>
    found.events.some((event) => event.stream[0] === stream && event.payload.includes(id))
  const shown: Record<string, boolean> = {
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
    "stream user": eventOn("user", found.post),
    "stream user, by a reblog": eventOn("user", found.reblog),
    "stream user:notification": eventOn("user:notification", found.reply),
    "stream public": eventOn("public", found.post),
    "stream public:local": eventOn("public:local", found.post),
    "stream hashtag": eventOn("hashtag", found.post)
  }
  return shown
})

/** Collects events up to the last post. */
const untilLastPost = Effect.fnUntraced(function*({ next }: { readonly next: Effect.Effect<StreamEvent> }) {
  const events: Array<StreamEvent> = []
  const isLast = ({ payload, stream }: StreamEvent) => stream[0] === "user" && payload.includes("The end")
  while (!events.some(isLast)) events.push(yield* next)
  return events
})

layer(TestServer.layer(), { excludeTestServices: true })("row 62: a viewer who", (it) => {
  for (const [name, { act, shownIn }] of Object.entries(relations)) {
    const where = shownIn === "everywhere"
      ? shownIn
      : shownIn.length === 0
      ? "nowhere"
      : `in ${shownIn.join(", ")} only`
    it.effect(
      `${name} another sees them ${where}`,
      () =>
        Effect.gen(function*() {
          const { createPerson } = yield* TestServer
          const suffix = Object.keys(relations).indexOf(name)
          const testAccounts: TestAccounts = {
            viewer: yield* createPerson(`viewer${suffix}`),
            control: yield* createPerson(`control${suffix}`),
            target: yield* createPerson(`target${suffix}`),
            bystander: yield* createPerson(`bystander${suffix}`)
          }
          const { bystander, control, target, viewer } = testAccounts
          for (const reader of [viewer, control]) for (const one of [target, bystander]) yield* follow(reader, one)
          yield* follow(target, bystander)
          yield* act(testAccounts)

          const [viewerStream, controlStream] = [
            yield* listen(viewer, ...channels),
            yield* listen(control, ...channels)
          ]
          const thread = yield* publishedId(bystander, "A thread")
          const published = yield* publishedId(target, "Birnen #obst")
          // A reply to an unfollowed account reaches their homes only through a reblog.
          const stranger = yield* createPerson(`stranger${suffix}`)
          const reblogged = yield* publishedId(target, "Mispeln", {
            in_reply_to_id: yield* publishedId(stranger, "A word")
          })
          const names = [bystander, viewer, control].map(({ username }) => `@${username}`).join(" ")
          const reply = yield* publishedId(target, `${names} Quitten`, { in_reply_to_id: thread })
          yield* post(`/api/v1/statuses/${thread}/favourite`, target)
          // The control account is in the same fan-out slice, so the viewer's event is due at the same time.
          const early = yield* controlStream.until(reply)
          const { body: reblog } = yield* post(`/api/v1/statuses/${reblogged}/reblog`, bystander)
          yield* publishedId(bystander, "The end")
          const found = { post: published, reply, reblog: reblog.id, thread }

          const events = [...early, ...yield* untilLastPost(controlStream)]
          const everything = yield* surfaces(control, testAccounts, { ...found, events })
          const missed = Object.keys(everything).filter((surface) => !everything[surface])
          assert.deepStrictEqual(missed, [], "an account without a relation sees them everywhere")
          const shown = yield* surfaces(viewer, testAccounts, { ...found, events: yield* untilLastPost(viewerStream) })
          const counted = Object.keys(shown).filter((surface) => shown[surface])
          assert.sameMembers(counted, shownIn === "everywhere" ? Object.keys(everything) : [...shownIn])
        })
    )
  }
})
