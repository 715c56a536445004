import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { unzipSync, zipSync } from "fflate"
import { decodeArchiveImport } from "../../../../src/services/transfers/archives/ArchiveImport.ts"
import {
  archiveServer,
  importArchive,
  mastodonArchive,
  mover,
  picturedPosts,
  planOf,
  postsOf
} from "../../../support/Archives.ts"

/** Packs the files of an archive again, within a folder. */
const within = (folder: string, archive: Uint8Array) =>
  Object.fromEntries(Object.entries(unzipSync(archive)).map(([path, bytes]) => [`${folder}/${path}`, bytes]))

layer(archiveServer, { excludeTestServices: true })("archives that were packed again within a folder", (it) => {
  it.effect("F476: keep the files of their posts, wherever the outbox is and the nodes that read them die", () =>
    Effect.gen(function*() {
      for (const [at, outboxFirst] of [false, true].entries()) {
        const [owner, actor] = yield* mover(`packed${at}`)
        const { files, items } = yield* picturedPosts(actor, 5, 3)
        const archive = zipSync(within("archive-2026", mastodonArchive(actor, items, files, outboxFirst)))
        const done = yield* importArchive(
          owner,
          archive,
          (step, when) => step % 2 === 0 && when === "after" && step < 6
        )
        assert.deepInclude(done, { state: "finished", added: 5, failed: 0 })
        const { plan } = yield* decodeArchiveImport(done.options)
        assert.deepInclude(plan, { posts: 5, files: 3, missingFiles: 0 })
        const pictured = (yield* postsOf(owner)).filter(({ mediaIds }) => mediaIds.length === 1)
        assert.lengthOf(pictured, 3)
      }
    }))

  it.effect("F476: have one folder: two archives in one file are refused", () =>
    Effect.gen(function*() {
      const [owner, actor] = yield* mover("both")
      const { files, items } = yield* picturedPosts(actor, 2, 1)
      const archive = mastodonArchive(actor, items, files)
      const both = zipSync({ ...within("one", archive), ...within("two", archive) })
      assert.deepInclude(yield* planOf(owner, both), { state: "failed", problem: "unreadable" })
    }))

  it.effect("F476: take no file from outside of the folder", () =>
    Effect.gen(function*() {
      const [owner, actor] = yield* mover("outside")
      const { files, items } = yield* picturedPosts(actor, 2, 2)
      const [inside, outside] = Object.keys(files)
      const packed = within("one", mastodonArchive(actor, items, { [inside!]: files[inside!]! }))
      const { plan } = yield* planOf(owner, zipSync({ ...packed, [outside!]: files[outside!]! }))
      assert.deepInclude(plan, { posts: 2, files: 1, missingFiles: 1 })
    }))
})
