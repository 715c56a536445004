import { HttpApi } from "effect/http-api"
import { Api } from "../../src/http/Api.ts"
import { Access, type AccessRule } from "../../src/http/guard/Access.ts"

/** A route of the API and the callers that it declares. */
export interface Route {
  readonly method: string
  /** With `:names` for parameters. */
  readonly path: string
  readonly rule: AccessRule
}

/** Every route that the API declares. */
export const routes: ReadonlyArray<Route> = (() => {
  const found: Array<Route> = []
  HttpApi.reflect(Api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint }) => {
      const path = endpoint.path.replace(/(?<=.)\/$/, "")
      found.push({
        method: endpoint.method,
        path,
        rule: Access.ruleOf(endpoint)
      })
    }
  })
  return found
})()

/** Returns the path of a route with these values for its parameters, in order; the last value fills the rest. */
export const pathOf = ({ path }: Route, ...values: ReadonlyArray<string>): string => {
  let at = 0
  return path.replace(/:\w+/g, () => encodeURIComponent(values[Math.min(at++, values.length - 1)] ?? "1"))
}
