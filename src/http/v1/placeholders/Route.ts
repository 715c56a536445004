import { Array as Arr, Effect, Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import type { HttpMethod } from "effect/http/HttpMethod"
import type { PathInput } from "effect/http/HttpRouter"
import { type ClientError, RecordNotFound } from "../../../services/Errors.ts"
import { Access, type AccessRule } from "../../guard/Access.ts"
import type * as Reply from "../../guard/Reply.ts"

/** A schema that needs no services. */
type AnyCodec = Schema.Codec<unknown, unknown>

/** An operation of a capability that is not there yet, with the answer that is true meanwhile. */
export interface Route {
  readonly methods: Arr.NonEmptyReadonlyArray<HttpMethod>
  readonly path: PathInput
  readonly access: AccessRule
  /** What the operation gives once it has something to give. */
  readonly success: AnyCodec
  readonly answer: Effect.Effect<Reply.AnyAnswer, ClientError>
}

/** `{}` */
const Nothing = Schema.Struct({})

type Methods = HttpMethod | Route["methods"]
const all = (methods: Methods): Route["methods"] => typeof methods === "string" ? [methods] : methods

/** Something that nobody can have made: whatever its id, it does not exist. Apps take that as "not set". */
export const absent = (methods: Methods, path: PathInput, access: AccessRule): Route => ({
  methods: all(methods),
  path,
  access,
  success: Nothing,
  answer: Effect.fail(new RecordNotFound())
})

/** `getV2FiltersKeywordsId`, for the API's description. */
const nameOf = (method: HttpMethod, path: string) =>
  [method.toLowerCase(), ...path.replace("/api/v1/", "/api/").split(/[/:_]+/).slice(2)].map((word, index) =>
    index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)
  ).join("")

const parametersOf = (path: string) =>
  Object.fromEntries(Array.from(path.matchAll(/:([a-z_]+)/g), ([, name = ""]) => [name, Schema.String]))

/** The endpoints of a route, one a method. */
export const endpointsOf = ({ access, methods, path, success }: Route) =>
  Arr.map(
    methods,
    (method) =>
      HttpApiEndpoint.make(method)(nameOf(method, path), path, { params: parametersOf(path), success })
        .annotate(Access, access)
  )

/** What answers them, by their names. */
export const handlersOf = ({ answer, methods, path }: Route) =>
  methods.map((method) => [nameOf(method, path), () => answer] as const)
