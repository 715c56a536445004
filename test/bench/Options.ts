import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"

export interface Options {
  /** Runs only rows whose names contain this text; undefined runs all. */
  readonly only: string | undefined
  /** Fewer and shorter runs, and no account with 100,000 followers. */
  readonly quick: boolean
  /** Rows that extrapolate to a true size have that size instead, which may take an hour. */
  readonly full: boolean
  /** Path of the JSON file with the figures. */
  readonly json: string
  /** Folder for one CPU profile of the server per row. */
  readonly profile: string | undefined
  /** Measured runs per row, of which the median counts, and seconds per run. */
  readonly runs: number
  readonly seconds: number
}

export const usage = `npm run bench -- [--quick | --full] [--only NAME] [--json FILE] [--profile FOLDER]

Measures the server with an embedded Postgres of its own in a folder for temporary files. --only selects rows whose
name contains the text. A run takes under ten minutes, with --quick under two. --full copies a Mastodon server of 3,000,000
posts instead of extrapolating: half an hour to an hour, and 15 GB in the folder for temporary files.`

export const read = (args: ReadonlyArray<string>): Options => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string" },
      quick: { type: "boolean", default: false },
      full: { type: "boolean", default: false },
      json: { type: "string", default: join(tmpdir(), "murmuration-bench.json") },
      profile: { type: "string" }
    }
  })
  return { ...values, only: values.only, profile: values.profile, runs: 3, seconds: values.quick ? 1 : 3 }
}
