import { Effect } from "effect"
import { type Person, TestServer } from "../../support/Server.ts"
import { OtherServer } from "./Sending.ts"

export const person = (name: string) => TestServer.use(({ createPerson }) => createPerson(name))
export const there = (name: string) => OtherServer.use(({ actor }) => actor(name))

/** What the server answers somebody, as JSON. */
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

/** The id of somebody here as others know it. */
export const actorOf = ({ username }: Person) =>
  TestServer.use(({ baseUrl }) => Effect.succeed(`${baseUrl}/users/${username}`))
