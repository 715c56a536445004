import type { TestProject } from "vitest/node"
import * as PostgresServer from "./PostgresServer.ts"

declare module "vitest" {
  interface ProvidedContext {
    readonly postgres: PostgresServer.Address
  }
}

/** One Postgres for the whole run; every test file copies its own database from the migrated template in it. */
export default async function setup(project: TestProject) {
  const server = await PostgresServer.start()
  project.provide("postgres", server.address)
  return server.stop
}
