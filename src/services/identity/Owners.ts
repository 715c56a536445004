import { Context, Effect, Layer, Option, type Redacted } from "effect"
import type { AccountId } from "../database/Ids.ts"
import { InstanceSettings } from "../instance/InstanceSettings.ts"
import type { NotAllowed, Unavailable, Unprocessable } from "../runtime/Errors.ts"
import { RecordNotFound, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { Roles } from "../staff/Roles.ts"
import { OwnerLinks } from "./OwnerLinks.ts"
import { givenEmail } from "./RegistrationRules.ts"
import { Registrations } from "./Registrations.ts"

/** Account of the owner, and the first settings of the server. */
export interface NewOwner {
  readonly username: string
  readonly email: string
  readonly password: Redacted.Redacted
  /** Name of the server. */
  readonly title: string
  /** Language tag of the owner and the server; "" for none. */
  readonly language: string
}

/** Creates the owner's account by a link of `OwnerLinks`. */
export class Owners extends Context.Service<Owners, {
  /** Returns true if the link can be used now. */
  readonly opens: (secret: string) => Effect.Effect<boolean>
  /** Creates the owner and names the server, in one transaction that uses the link up. */
  readonly create: (
    secret: string,
    owner: NewOwner
  ) => Effect.Effect<AccountId, RecordNotFound | NotAllowed | Unprocessable | Unavailable>
}>()("murmuration/services/identity/Owners") {
  static readonly layer = Layer.effect(
    Owners,
    Effect.gen(function*() {
      const links = yield* OwnerLinks
      const registrations = yield* Registrations
      const roles = yield* Roles
      const settings = yield* InstanceSettings

      const create: Owners["Service"]["create"] = traced("Owners.create")(
        function*(secret, { email, language, password, title, username }) {
          const role = Option.getOrUndefined(yield* roles.find("owner"))
          if (role === undefined) return yield* new RecordNotFound()
          if (title === "") return yield* validationFailed("Title can't be blank")
          const first = links.use(secret).pipe(
            Effect.andThen(settings.change(undefined, {
              title,
              ...(language !== "" && { defaultLanguage: language, languages: [language] })
            }))
          )
          return yield* registrations.create({
            username,
            email: givenEmail(email),
            password,
            // Only the operator knows the link.
            approved: true,
            confirmed: true,
            reservedAllowed: true,
            roleId: role.id,
            ...(language !== "" && { locale: language })
          }, first)
        }
      )
      return Owners.of({ opens: links.opens, create })
    })
  ).pipe(Layer.provide([OwnerLinks.layer, InstanceSettings.layer]))
}
