/**
 * Creates or uses a passkey for the form `#passkey`: its `data-options` are WebAuthn options as JSON, and its field
 * `credential` takes the result. The form is hidden until the browser is known to have passkeys.
 */
interface Described {
  readonly id: string
  readonly type: "public-key"
  readonly transports?: Array<AuthenticatorTransport>
}

const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0))

const textOf = (bytes: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")

const described = (all: ReadonlyArray<Described> | undefined): Array<PublicKeyCredentialDescriptor> =>
  (all ?? []).map(({ id, transports = [], type }) => ({ id: bytesOf(id), transports, type }))

/** Returns the credential as JSON, with its bytes in base64url. */
const credentialJson = (credential: PublicKeyCredential): string => {
  const { response } = credential
  const common = { clientDataJSON: textOf(response.clientDataJSON) }
  return JSON.stringify({
    id: credential.id,
    rawId: textOf(credential.rawId),
    type: credential.type,
    response: response instanceof AuthenticatorAttestationResponse
      ? { ...common, attestationObject: textOf(response.attestationObject), transports: response.getTransports() }
      : response instanceof AuthenticatorAssertionResponse
      ? {
        ...common,
        authenticatorData: textOf(response.authenticatorData),
        signature: textOf(response.signature),
        userHandle: response.userHandle === null ? null : textOf(response.userHandle)
      }
      : common
  })
}

const form = document.querySelector<HTMLFormElement>("#passkey")
const credential = form?.querySelector<HTMLInputElement>("input[name=credential]")

if (form && credential && "PublicKeyCredential" in window) {
  form.hidden = false
  const options = JSON.parse(form.dataset["options"] ?? "{}")
  form.addEventListener("submit", (event) => {
    if (credential.value !== "") return
    event.preventDefault()
    void ask()
  })

  /** Asks the browser for the credential, and submits the form with it. */
  const ask = async () => {
    const challenge = bytesOf(options.challenge)
    try {
      const response = options.user === undefined
        ? await navigator.credentials.get({
          publicKey: { ...options, challenge, allowCredentials: described(options.allowCredentials) }
        })
        : await navigator.credentials.create({
          publicKey: {
            ...options,
            challenge,
            user: { ...options.user, id: bytesOf(options.user.id) },
            excludeCredentials: described(options.excludeCredentials)
          }
        })
      if (!(response instanceof PublicKeyCredential)) return
      credential.value = credentialJson(response)
      form.submit()
    } catch {
      const failed = form.querySelector<HTMLElement>("[role=alert]")
      if (failed) failed.hidden = false
    }
  }
}
