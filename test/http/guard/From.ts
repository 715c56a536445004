import { Effect, Option } from "effect"
import { HttpServerRequest } from "effect/http"

/** Runs an effect as a request from an address. */
export const from = (address: string) =>
  Effect.provideService(
    HttpServerRequest.HttpServerRequest,
    HttpServerRequest.fromWeb(new Request("http://local.example/")).modify({ remoteAddress: Option.some(address) })
  )
