import { BaseSequencer, type TestSpecification } from "vitest/node"

/**
 * Folders of long test files and single long files, longest first: a long file that starts last would prolong the run.
 */
const folders = [
  "simulation",
  // Tests with tight timing start while most processors are idle.
  "cluster/FaultsRedis.test.ts",
  "cluster/FaultsFrozen.test.ts",
  "cluster/FaultsPostgres.test.ts",
  "cluster/Deliveries.test.ts",
  "cluster/TwoNodes.test.ts",
  "cluster",
  "check.test.ts",
  "main.test.ts",
  "http/staff/pages/Pages.test.ts",
  // Tests that wait for other programs start one at a time, between CPU-bound folders.
  "http/v1/MediaPlayables.test.ts",
  "cli",
  "federation/Snac.test.ts",
  "federation",
  "http/v1/MediaHostile.test.ts",
  "layers",
  "clients/masto.media.test.ts",
  "clients",
  "docs/GuideFolders.test.ts",
  "browser",
  "services/feeds/FeedQueries.test.ts",
  "safety",
  "http/activitypub",
  "http/staff/pages"
]

const rank = ({ moduleId }: TestSpecification) => {
  const found = folders.findIndex((folder) => `${moduleId}/`.includes(`/test/${folder}/`))
  return found === -1 ? folders.length : found
}

/** Orders test files by the lists above; within a folder, in the default order. */
export class SlowFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>) {
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other))
  }
}
