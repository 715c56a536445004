import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as ListImports from "../../../src/actors/transfers/ListImports.ts"
import { FileImports } from "../../../src/services/transfers/FileImports.ts"
import { TransferQueue } from "../../../src/services/transfers/TransferQueue.ts"
import { Transfers } from "../../../src/services/transfers/Transfers.ts"
import { archiveServer, runTransfer, slowed } from "../../support/Archives.ts"
import { user } from "../../support/SignedIn.ts"

const live = FileImports.layer.pipe(Layer.provideMerge(archiveServer))

layer(live, { excludeTestServices: true })("imports of lists", (it) => {
  it.effect("F253: a step commits before its lease ends, however long its lines take", () =>
    Effect.gen(function*() {
      const [imports, queue, transfers] = [yield* FileImports, yield* TransferQueue, yield* Transfers]
      const ada = yield* user("ada")
      const filters = Array.from({ length: 3 }, (_, n) => ({ title: `filter ${n}`, context: ["home"] }))
      const { id } = yield* imports.begin(ada, {
        bytes: new TextEncoder().encode(JSON.stringify({ custom_filters: filters })),
        fileName: "",
        kind: "filters",
        overwrite: false,
        follow: false
      }, true)
      const handler = yield* ListImports.make
      const [claimed] = yield* queue.claim(1)
      const { claimed: next, end } = yield* slowed(handler.step(claimed!), 31_000)
      assert.deepInclude(yield* transfers.find(ada, id), { processed: 1, state: "in_progress" })
      yield* queue.release(next, end)
      yield* runTransfer(handler)
      assert.deepInclude(yield* transfers.find(ada, id), { processed: 3, added: 3, failed: 0 })
    }))
})
