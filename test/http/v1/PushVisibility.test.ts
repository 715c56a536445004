import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { follow, idle, name, subscribed, toldOf, World, world } from "./PushDevices.ts"

const visibilities = ["public", "unlisted", "private", "direct"] as const
const posts = visibilities.flatMap((visibility) => [false, true].map((local) => ({ visibility, local })))
const textOf = ({ local, visibility }: typeof posts[number]) => `${visibility} ${local ? "here" : "everywhere"}`

/** How somebody stands to the author, and what of a post that names them or not rings their phone. */
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

/** A message in private of somebody whom one does not follow waits; all else is told to whom it names. */
const rings = (viewer: Viewer, { visibility }: typeof posts[number]) =>
  viewers[viewer] === "everything" || (viewers[viewer] !== "nothing" && visibility !== "direct")

layer(world, { excludeTestServices: true, timeout: "120 seconds" })("pushes of posts", (it) => {
  it.effect(
    `row 58: ${posts.length} kinds of posts, local-only ones among them, ring the phones of those of ${allViewers.length} viewers who may see them and are told of them`,
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
})
