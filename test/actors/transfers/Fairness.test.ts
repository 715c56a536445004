import { assert, layer } from "@effect/vitest"
import { Clock, Deferred, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { AccountActors } from "../../../src/actors/account/core/AccountActors.ts"
import * as TransferRunner from "../../../src/actors/transfers/TransferRunner.ts"
import type { AccountId } from "../../../src/services/database/Ids.ts"
import { RemoteActors } from "../../../src/services/federation/RemoteActors.ts"
import { ArchiveReader } from "../../../src/services/transfers/archives/ArchiveReader.ts"
import { ArchiveRequests } from "../../../src/services/transfers/archives/ArchiveRequests.ts"
import { FileImports } from "../../../src/services/transfers/FileImports.ts"
import { LiveSources } from "../../../src/services/transfers/live/LiveSources.ts"
import type { ListKind } from "../../../src/services/transfers/Transfer.ts"
import { TransferQueue } from "../../../src/services/transfers/TransferQueue.ts"
import { Transfers } from "../../../src/services/transfers/Transfers.ts"
import { beginImport, mastodonArchive, mover, noteOf, planOf, postsOf } from "../../support/Archives.ts"
import { eventually } from "../../support/Eventually.ts"
import { liveServices } from "../../support/LiveServer.ts"
import { post } from "../../support/Posts.ts"
import { user } from "../../support/SignedIn.ts"

const services = FileImports.layer.pipe(
  Layer.provideMerge(Layer.merge(liveServices, Layer.mock(LiveSources)({})))
)

/** Virtual time within which a small import begins, in milliseconds; shorter than any timeout of the large ones. */
const beginMillisMax = 10_000

/**
 * Runs transfers as a node does, until the test ends, in virtual time: returns its clock and a function that lets a
 * second pass, and the claims that begin in it end.
 */
const startNode = Effect.gen(function*() {
  const clock = yield* TestClock.make()
  yield* clock.setTime(yield* Clock.currentTimeMillis)
  const queue = yield* TransferQueue
  let claiming = 0
  const counted = TransferQueue.of({
    ...queue,
    claim: (...given) => {
      const claim = Effect.andThen(Effect.sync(() => void claiming++), queue.claim(...given))
      return Effect.ensuring(claim, Effect.sync(() => void claiming--))
    }
  })
  yield* Layer.build(TransferRunner.layer).pipe(
    Effect.provideService(TransferQueue, counted),
    Effect.provideService(Clock.Clock, clock)
  )
  const second = Effect.andThen(
    clock.adjust("1 second"),
    eventually(Effect.sync(() => claiming), (count) => count === 0)
  )
  return { clock, second }
})
type Node = Effect.Success<typeof startNode>

/** Lets seconds pass on a node until the result is as wanted. */
const passing = <A, E, R>({ second }: Node, ask: Effect.Effect<A, E, R>, wanted: (response: A) => boolean) =>
  eventually(Effect.andThen(second, ask), wanted)

const beginList = Effect.fnUntraced(function*(owner: AccountId, kind: ListKind, lines: ReadonlyArray<string>) {
  const imports = yield* FileImports
  const bytes = new TextEncoder().encode(lines.join("\n"))
  return yield* imports.begin(owner, { bytes, fileName: "", kind, overwrite: false, follow: false }, true)
})

/** Waits until a node has soon claimed a small import and finished it. Its commands have deadlines: no time passes then. */
const finished = Effect.fnUntraced(function*(node: Node, owner: AccountId, id: bigint) {
  const transfers = yield* Transfers
  const began = node.clock.currentTimeMillisUnsafe()
  yield* passing(node, transfers.find(owner, id), ({ state }) => state !== "scheduled")
  assert.isAtMost(node.clock.currentTimeMillisUnsafe() - began, beginMillisMax)
  const done = yield* eventually(transfers.find(owner, id), ({ state }) => state === "finished")
  assert.deepInclude(done, { processed: 2, added: 2 })
})

const beginSmall = (owner: AccountId) => beginList(owner, "domain_blocks", ["a.example", "b.example"])

/** Begins a small import and waits until it is finished. */
const smallImport = Effect.fnUntraced(function*(node: Node, owner: AccountId) {
  const { id } = yield* beginSmall(owner)
  yield* finished(node, owner, id)
})

/** Creates two or more members whose transfers end with the test, so that the next one begins with an empty queue. */
const members = Effect.fnUntraced(function*(prefix: string, count: number) {
  const transfers = yield* Transfers
  const owners = yield* Effect.forEach(Array.from({ length: count }, (_, n) => `${prefix}${n}`), (name) => user(name))
  const cancelled = Effect.forEach(owners, (owner) =>
    Effect.flatMap(
      transfers.list(owner),
      (all) => Effect.forEach(all, ({ id }) => transfers.cancel(owner, id), { discard: true })
    ))
  yield* Effect.addFinalizer(() => Effect.ignore(cancelled))
  const [first, second, ...rest] = owners
  return [first!, second!, ...rest] as const
})

layer(services, { excludeTestServices: true })("large transfers of some accounts", (it) => {
  it.effect("F382: archives that take long to read do not delay a small import of another account", () =>
    Effect.gen(function*() {
      const [small, ...owners] = yield* members("reads", 7)
      for (const owner of owners) yield* beginImport(owner, mastodonArchive("https://old.example/users/a", []))
      let reading = 0
      const reader = yield* ArchiveReader
      const endless = ArchiveReader.of({
        ...reader,
        read: () => Effect.andThen(Effect.sync(() => reading++), Effect.never)
      })
      const node = yield* Effect.provideService(startNode, ArchiveReader, endless)
      yield* passing(node, Effect.sync(() => reading), (count) => count >= 2)
      yield* smallImport(node, small)
    }))

  it.effect("F382: imports that wait for servers do not delay a small import of another account", () =>
    Effect.gen(function*() {
      const [small, ...owners] = yield* members("waits", 5)
      const lines = Array.from({ length: 500 }, (_, n) => `someone@silent${n}.example`)
      for (const owner of owners) yield* beginList(owner, "follows", lines)
      let asked = 0
      const remote = yield* RemoteActors
      const silent = RemoteActors.of({
        ...remote,
        findByHandle: () => Effect.andThen(Effect.sync(() => asked++), Effect.never)
      })
      const node = yield* Effect.provideService(startNode, RemoteActors, silent)
      yield* passing(node, Effect.sync(() => asked), (count) => count >= 32)
      yield* smallImport(node, small)
    }))

  it.effect("a small import begins after at most one claim of each large one", () =>
    Effect.gen(function*() {
      const transfers = yield* Transfers
      const [small, ...owners] = yield* members("long", 6)
      const lines = Array.from({ length: 2_000 }, (_, n) => `nobody${n}`)
      for (const owner of owners) yield* beginList(owner, "mutes", lines)
      const queue = yield* TransferQueue
      const opened = yield* Deferred.make<void>()
      const commits: Array<bigint> = []
      let released = 0
      const counting = TransferQueue.of({
        ...queue,
        commit: (claimed, ...rest) =>
          Deferred.await(opened).pipe(
            Effect.andThen(Effect.sync(() => commits.push(claimed.accountId))),
            Effect.andThen(queue.commit(claimed, ...rest))
          ),
        release: (...ended) => Effect.andThen(queue.release(...ended), Effect.sync(() => void released++))
      })
      const node = yield* Effect.provideService(startNode, TransferQueue, counting)
      const claimed = Effect.map(
        Effect.forEach(owners, (owner) => Effect.map(transfers.list(owner), ([first]) => first!.state)),
        (states) => states.filter((state) => state === "in_progress").length
      )
      yield* passing(node, claimed, (count) => count === 4)
      const { id } = yield* beginSmall(small)
      yield* Deferred.succeed(opened, undefined)
      yield* eventually(Effect.sync(() => released), (count) => count >= 4)
      yield* finished(node, small, id)
      const before = commits.slice(0, commits.indexOf(small))
      for (const owner of owners) {
        // A step of such lines commits twice.
        assert.isAtMost(before.filter((other) => other === owner).length, 2 * 20)
      }
      assert.isAtLeast((yield* transfers.find(owners[0]!, (yield* transfers.list(owners[0]!))[0]!.id)).processed, 25)
    }))

  it.effect("posts and imports of other accounts are written while a step of an import is not committed", () =>
    Effect.gen(function*() {
      const [owner, actor] = yield* mover("held")
      const [writer, small] = yield* members("others", 2)
      const notes = Array.from(
        { length: 60 },
        (_, n) => noteOf(actor, n, { tag: [{ type: "Hashtag", name: "#Old", href: "https://old.example/tags/old" }] })
      )
      const { id } = yield* planOf(owner, mastodonArchive(actor, notes))
      yield* ArchiveRequests.use((archives) => archives.confirm(owner, id))
      const queue = yield* TransferQueue
      const [written, opened] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const holding = TransferQueue.of({
        ...queue,
        commit: (claimed, progress, write = Effect.void) =>
          queue.commit(
            claimed,
            progress,
            claimed.id === id
              ? write.pipe(
                Effect.andThen(Deferred.succeed(written, undefined)),
                Effect.andThen(Deferred.await(opened))
              )
              : write
          )
      })
      const node = yield* Effect.provideService(startNode, TransferQueue, holding)
      yield* passing(node, Deferred.isDone(written), (done) => done)
      yield* AccountActors.use((actors) => actors.tell(writer, { _tag: "Publish", post: post("meanwhile #new") }))
      yield* smallImport(node, small)
      assert.lengthOf(yield* postsOf(owner), 0)
      yield* Deferred.succeed(opened, undefined)
      const transfers = yield* Transfers
      yield* passing(node, transfers.find(owner, id), ({ state }) => state === "finished")
      assert.lengthOf(yield* postsOf(owner), 60)
    }))
})
