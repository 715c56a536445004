import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { keyOperations, listener } from "../../federation/Listener.ts"
import { note, sendTo } from "../../federation/SentActivity.ts"
import { settled } from "../../support/Fediverse.ts"
import { follow, idle, name, subscribed, toldOf, World, world } from "../push/PushDevices.ts"

const visibilities = ["public", "unlisted", "private", "direct"] as const
const posts = visibilities.flatMap((visibility) => [false, true].map((local) => ({ visibility, local })))
const textOf = ({ local, visibility }: typeof posts[number]) => `${visibility} ${local ? "here" : "everywhere"}`

/** Relations of a viewer to the author, and which posts, with or without a mention, are pushed. */
const viewers = {
  author: "nothing",
  "follows with a bell": "what followers see",
  follows: "nothing",
  stranger: "nothing",
  "named stranger": "what is not direct",
  "named follower": "everything",
  "named, blocks the author": "nothing",
  "named, is blocked": "nothing",
  "named, mutes the author": "nothing"
} as const
type Viewer = keyof typeof viewers
const isViewer = (text: string): text is Viewer => text in viewers
const allViewers = Object.keys(viewers).filter(isViewer)

/** Returns true if a mention notifies: a stranger's private mention is filtered. */
const rings = (viewer: Viewer, { visibility }: typeof posts[number]) =>
  viewers[viewer] === "everything" || (viewers[viewer] !== "nothing" && visibility !== "direct")

const publicId = "https://www.w3.org/ns/activitystreams#Public"
/** Returns audiences of remote posts besides mentions; the last one is narrower than its visibility. */
const addressings = (followers: string, addressed: ReadonlyArray<string>) => ({
  public: { to: [publicId], cc: [followers] },
  unlisted: { to: [followers], cc: [publicId] },
  private: { to: [followers], cc: [] },
  direct: { to: [], cc: [] },
  limited: { to: [...addressed], cc: [] }
})
/** Relations of a local viewer to a remote author, and which posts are pushed. */
const incoming = {
  "follows with a bell": ["public", "unlisted", "private"],
  follows: [],
  stranger: [],
  "named stranger": ["public", "unlisted", "private"],
  "named, follows": ["public", "unlisted", "private", "direct", "limited"],
  "addressed, follows with a bell": ["public", "unlisted", "private", "limited"],
  "addressed stranger": [],
  "named, blocks the author": [],
  "named, mutes the author": []
}
type IncomingViewer = keyof typeof incoming
const isIncoming = (text: string): text is IncomingViewer => text in incoming
const incomingViewers = Object.keys(incoming).filter(isIncoming)

layer(world, { excludeTestServices: true })("pushes of posts", (it) => {
  it.effect(
    `row 58: ${posts.length} kinds of posts, including local-only ones, are pushed to those of ${allViewers.length} viewers with access and a notification`,
    () =>
      Effect.gen(function*() {
        const { here } = yield* World
        const author = yield* here.person(name("author"))
        const people = new Map(
          yield* Effect.forEach(allViewers, (viewer) =>
            Effect.map(
              viewer === "author" ? Effect.succeed(author) : here.person(name("viewer")),
              (person) => [viewer, person] as const
            ))
        )
        const of = (viewer: Viewer) => people.get(viewer) ?? author
        const path = (other: { readonly accountId: unknown }, what: string) =>
          `/api/v1/accounts/${String(other.accountId)}/${what}`
        yield* of("follows with a bell").ask("POST", path(author, "follow"), { notify: true })
        for (const viewer of ["follows", "named follower"] as const) yield* follow(of(viewer), author)
        yield* of("named, blocks the author").ask("POST", path(author, "block"))
        yield* author.ask("POST", path(of("named, is blocked"), "block"))
        yield* of("named, mutes the author").ask("POST", path(author, "mute"))
        yield* idle(here)
        const devices = new Map(
          yield* Effect.forEach(allViewers, (viewer) =>
            Effect.map(subscribed(of(viewer), { standard: true }), (device) => [viewer, device] as const))
        )
        const named = allViewers.filter((viewer) =>
          viewer.startsWith("named")
        ).map((one) => `@${of(one).username}`)
        for (const one of posts) {
          const { local: local_only, visibility } = one
          yield* author.post(`${textOf(one)} ${named.join(" ")}`, { visibility, local_only })
        }
        yield* idle(here)
        for (const viewer of allViewers) {
          const expected = posts.filter((one) => rings(viewer, one)).map(textOf)
          const device = devices.get(viewer)
          if (device === undefined) return yield* Effect.die("a phone is missing")
          yield* toldOf(device, expected.length)
          const told = device.told.map(({ message }): string => message.body.split(" @")[0])
          assert.deepStrictEqual(told, expected, viewer)
        }
      }).pipe(Effect.scoped)
  )

  it.effect(
    "row 58: remote posts, also with the fifth visibility, are pushed by the same rules",
    () =>
      Effect.gen(function*() {
        const { here } = yield* World
        const there = yield* listener()
        const zoe = yield* there.actor(name("zoe"))
        const people = new Map(
          yield* Effect.forEach(incomingViewers, (viewer) =>
            Effect.map(here.person(name("reader")), (person) => [viewer, person] as const))
        )
        const of = (viewer: IncomingViewer) =>
          people.get(viewer)!
        const send = (activity: Record<string, unknown>) =>
          sendTo(here, zoe)({ id: `${zoe.id}#${name("a")}`, ...activity })
        const found = Effect.fnUntraced(function*(viewer: IncomingViewer) {
          const one = yield* of(viewer).find({ handle: `${zoe.name}@${there.domain}` })
          return `/api/v1/accounts/${one.id}`
        })
        for (const viewer of incomingViewers) {
          const at = yield* found(viewer)
          if (/follow/.test(viewer)) {
            yield* of(viewer).ask("POST", `${at}/follow`, { notify: viewer.includes("bell") })
            yield* send({ type: "Accept", object: { type: "Follow", actor: of(viewer).uri, object: zoe.id } })
          }
          if (viewer.includes("blocks")) yield* of(viewer).ask("POST", `${at}/block`)
          if (viewer.includes("mutes")) yield* of(viewer).ask("POST", `${at}/mute`)
        }
        yield* settled([here])
        const devices = new Map(
          yield* Effect.forEach(incomingViewers, (viewer) =>
            Effect.map(subscribed(of(viewer), { standard: true }), (device) =>
              [viewer, device] as const))
        )
        const uris = (wanted: (viewer: IncomingViewer) => boolean) =>
          incomingViewers.filter(wanted).map((viewer) =>
            of(viewer).uri
          )
        const named = uris((viewer) => viewer.startsWith("named"))
        const addressed = uris((viewer) => viewer.startsWith("addressed"))
        const tag = named.map((href) => ({ type: "Mention", href }))
        for (const [visibility, { cc, to }] of Object.entries(addressings(`${zoe.id}/followers`, addressed))) {
          const object = note(zoe, visibility, { to: [...to, ...named], cc, tag })
          yield* send({ type: "Create", object })
        }
        yield* settled([here])
        yield* idle(here)
        const stored = yield* here.sql<{ visibility: string; limited: boolean }>`
          SELECT visibility, limited FROM statuses WHERE uri LIKE ${`${zoe.id}/%`} ORDER BY id`
        assert.deepStrictEqual(
          stored.map(({ limited, visibility }) => limited ? "limited" : visibility),
          ["public", "unlisted", "private", "direct", "limited"]
        )
        for (const viewer of incomingViewers) {
          const device = devices.get(viewer)!
          const expected = incoming[viewer]
          yield* toldOf(device, expected.length)
          assert.deepStrictEqual(device.told.map(({ message }): string => message.body), expected, viewer)
        }
      }).pipe(Effect.provide(keyOperations), Effect.scoped)
  )
})
