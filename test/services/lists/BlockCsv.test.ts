import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { read } from "../../../src/services/lists/BlockCsv.ts"

const domains = (text: string) =>
  Effect.map(read(text, "reject", "local.example"), (found) => ({
    entries: found?.entries.map(({ action, domain }) => `${domain} ${action}`),
    skipped: found?.skipped
  }))

describe("F95: lists of blocks", () => {
  it.effect("rows with semicolons are read like those with commas", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* domains("#domain;#severity\na.example;suspend\nb.example;silence\n"), {
        entries: ["a.example reject", "b.example limit"],
        skipped: 0
      })
    }))

  it.effect("invalid host names and suffixes of registries are skipped; hosts of communities are not", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(
        yield* domains("#domain\n*.a.example\n\"x,b.example\"\nco.uk\nc.example\nd.example;e\ngithub.io\n"),
        {
          entries: ["c.example reject", "github.io reject"],
          skipped: 4
        }
      )
    }))
})
