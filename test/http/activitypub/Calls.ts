import { Effect } from "effect"
import { type Person, TestServer } from "../../support/Server.ts"

export { actorOf, person, there } from "./Talking.ts"

/** Returns the server's response as JSON. */
export const json = (
  by: Person | undefined,
  path: string,
  options: RequestInit & { json?: unknown } = {}
  // Tests look into answers of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
): Effect.Effect<any, never, TestServer> =>
  TestServer.use(({ fetch }) =>
    Effect.flatMap(
      fetch(path, { ...(by && { token: by.token }), ...options }),
      (response) => Effect.promise(() => response.json())
    )
  )
