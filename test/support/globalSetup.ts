import type { TestProject } from "vitest/node"
import type { KeyPair } from "../../src/services/federation/signatures/KeyOperations.ts"
import * as Compiled from "./Compiled.ts"
import * as KeyPairs from "./KeyPairs.ts"
import * as PostgresServer from "./PostgresServer.ts"
import * as Programs from "./programs/Programs.ts"

declare module "vitest" {
  interface ProvidedContext {
    readonly postgres: PostgresServer.Address
    readonly keyPairs: ReadonlyArray<KeyPair>
  }
}

/** Returns true if only part of the tests was requested, which may not need the missing programs. */
const partOnly = () => process.argv.slice(2).some((word) => word !== "run" && !word.startsWith("--"))

/**
 * Checks before any test that the required programs exist; no other code does. Starts one Postgres for the whole run,
 * whose migrated template each test file copies.
 */
export default async function setup(project: TestProject) {
  const lacking = Programs.provide()
  if (lacking !== undefined) {
    if (!partOnly()) throw new Error(lacking)
    console.warn(lacking)
  }
  const [server, keyPairs] = await Promise.all([
    PostgresServer.start(),
    KeyPairs.make(),
    partOnly() ? undefined : Compiled.prepare()
  ])
  project.provide("postgres", server.address)
  project.provide("keyPairs", keyPairs)
  return server.stop
}
