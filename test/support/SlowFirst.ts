import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Rooms of long files and long files alone, the longest first: one that began last would be waited for alone. */
const rooms = [
  "simulation",
  // What is measured most closely begins while most of the processors are idle.
  "cluster/FaultsRedis.test.ts",
  "cluster/FaultsFrozen.test.ts",
  "cluster/FaultsPostgres.test.ts",
  "cluster/Deliveries.test.ts",
  "cluster/TwoNodes.test.ts",
  "cluster",
  "check.test.ts",
  "main.test.ts",
  "http/admin/Pages.test.ts",
  // Those that wait for other programs begin one at a time, between rooms that need the processors.
  "http/v1/MediaPlayables.test.ts",
  "cli",
  "federation/Snac.test.ts",
  "federation",
  "http/v1/MediaHostile.test.ts",
  "layers",
  "clients/masto.media.test.ts",
  "clients",
  "browser",
  "services/feeds/FeedQueries.test.ts",
  "safety",
  "http/activitypub",
  "http/admin"
]

const rank = ({ moduleId }: TestSpecification) => {
  const found = rooms.findIndex((room) => `${moduleId}/`.includes(`/test/${room}/`))
  return found === -1 ? rooms.length : found
}

/** The order in which files of tests begin; within a room as ever. */
export class SlowFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>) {
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other))
  }
}
