import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { pages } from "../../http/staff/pages/pages.ts"
import { adminFixtures } from "../../support/AdminFixtures.ts"
import { administratorBrowser } from "../../support/AdministratorBrowser.ts"
import { ask, newPerson } from "../../support/Api.ts"
import { setUp } from "../../support/Authenticator.ts"
import { TestServer } from "../../support/Server.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"
import { assertServed } from "../hostile/Pages.ts"
import * as FormFilling from "./FormFilling.ts"

const strangers = [
  "/auth/sign_in",
  "/auth/sign_up",
  "/auth/password/new",
  "/auth/confirmation/new"
]

/** Parameters of the authorization page. */
const parameters =
  "client_id redirect_uri response_type scope state code_challenge code_challenge_method lang force_login"

layer(TestServer.layer({ REGISTRATIONS: "approval" }), { excludeTestServices: true })(
  "F104: the worst texts in forms",
  (it) => {
    it.effect(
      `block the event loop for ${FormFilling.pauseMillisMax} ms at most, in any field of a page`,
      ({ annotate }) =>
        Effect.gen(function*() {
          const staff = yield* administratorBrowser("zoe")
          const pathOf = yield* adminFixtures(staff)
          const [outside, inside] = [yield* staffBrowser(), staff.browser]
          const filling = FormFilling.make()
          yield* Effect.forEach(strangers, (path) => filling.page(outside, path), { discard: true })
          yield* filling.query(outside, "/auth/password/edit?reset_password_token=TEXT", 0)
          // The pages of two-factor sign-in: the password, the first code, and the code after the password.
          const careful = yield* newPerson("careful")
          const own = yield* staffBrowser(careful)
          const settings = "/settings/two_factor_authentication"
          yield* filling.page(own, settings)
          const { qr } = yield* setUp(own, careful.password)
          yield* filling.page(own, `${settings} (first code)`, qr)
          yield* filling.page(own, settings)
          const halfway = yield* staffBrowser()
          const led = yield* halfway.signIn("careful", undefined, careful.password)
          yield* filling.page(halfway, "/auth/two_factor", yield* halfway.follow(led))

          for (const { path } of pages) {
            if (!/export|archive/.test(path)) yield* filling.page(inside, yield* pathOf(path))
          }
          const app = yield* ask(staff, "POST", "/api/v1/apps", {
            client_name: "App",
            redirect_uris: "https://app.example/back",
            scopes: "read"
          })
          const valid = new URLSearchParams({
            ["client_id"]: String(app.body.client_id),
            ["redirect_uri"]: "https://app.example/back"
          })
          for (const [place, name] of parameters.split(" ").entries()) {
            for (const given of ["", `${valid}&`]) {
              yield* filling.query(inside, `/oauth/authorize?response_type=code&${given}${name}=TEXT`, place)
            }
          }
          const { statuses, texts } = filling.figures()
          annotate(`${texts} texts, responses by status: ${JSON.stringify(statuses)}`)
          assert.isAbove(texts, 300)
          yield* assertServed(staff, "all of them")
        })
    )
  }
)
