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

/** Whether a part of the tests was asked for: it may need nothing of what is missing. */
const partOnly = () => process.argv.slice(2).some((word) => word !== "run" && !word.startsWith("--"))

/**
 * What the tests need beside Node is looked for here, before any of them, and nowhere else.
 *
 * One Postgres for the whole run; every test file copies its own database from the migrated template in it.
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
