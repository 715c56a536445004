import { assert, describe, it } from "@effect/vitest"
import { verify } from "node:crypto"
import { foreignKeys } from "../../../../src/services/federation/documents/ForeignKeys.ts"
import { integrityProofs } from "../../../../src/services/federation/documents/IntegrityProof.ts"

const contexts = ["https://www.w3.org/ns/activitystreams", "https://w3id.org/security/data-integrity/v2"]
const alice = "https://server.example/users/alice"
const keyId = `${alice}#ed25519-key`
const [key] = foreignKeys({
  id: alice,
  assertionMethod: [
    {
      id: keyId,
      type: "Multikey",
      controller: alice,
      publicKeyMultibase: "z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2"
    }
  ]
}, new URL(alice))

/** The example of FEP-8b32. */
const document = {
  "@context": contexts,
  id: "https://server.example/activities/1",
  type: "Create",
  actor: alice,
  object: {
    id: "https://server.example/objects/1",
    type: "Note",
    attributedTo: alice,
    content: "Hello world",
    location: { type: "Place", longitude: -71.184902, latitude: 25.273962 }
  }
}
const proof = {
  "@context": contexts,
  type: "DataIntegrityProof",
  cryptosuite: "eddsa-jcs-2022",
  verificationMethod: keyId,
  proofPurpose: "assertionMethod",
  proofValue: "z42ffGu6AUKPCFcFPiabmUvnGLPJzC7e4DGWC52NUasSSH37UMa9c58tdgVszUcZfytxa4fQ5TYHaJENCxUDe9SdL",
  created: "2023-02-24T23:36:38Z"
}
const holds = (given: Record<string, unknown>) =>
  integrityProofs(given).some(({ forms, signature }) =>
    forms().some((form) => verify(null, form, key?.publicPem ?? "", signature))
  )

describe("F88: object integrity proofs", () => {
  it("the example of FEP-8b32 is valid, with its members in any order, alone or among others", () => {
    assert.isTrue(holds({ ...document, proof }))
    assert.isTrue(holds({ proof, ...Object.fromEntries(Object.entries(document).toReversed()) }))
    assert.isTrue(holds({ ...document, proof: [{ type: "Other" }, proof] }))
    assert.deepInclude(integrityProofs({ ...document, proof })[0], {
      keyId,
      createdMillis: Date.parse(proof.created),
      expiresMillis: undefined
    })
    // The document's context may extend the proof's context.
    assert.isTrue(holds({ ...document, "@context": [...contexts, "https://other.example/ns"], proof }))
  })

  it("any change makes it invalid", () => {
    const changed: ReadonlyArray<Record<string, unknown>> = [
      { ...document, actor: "https://server.example/users/bob", proof },
      { ...document, more: true, proof },
      { ...document, object: { ...document.object, content: "Hello world!" }, proof },
      { ...document, "@context": contexts.toReversed(), proof },
      { ...document, "@context": contexts[0], proof },
      { ...document, proof: { ...proof, created: "2023-02-24T23:36:39Z" } },
      { ...document, proof: { ...proof, expires: "2999-01-01T00:00:00Z" } },
      { ...document, proof: { ...proof, proofValue: proof.proofValue.replace("L", "M") } }
    ]
    for (const given of changed) assert.isFalse(holds(JSON.parse(JSON.stringify(given))), JSON.stringify(given))
  })

  it("D-025: proofs of another kind are ignored", () => {
    const others: ReadonlyArray<unknown> = [
      null,
      "proof",
      [],
      {},
      { ...proof, type: "Ed25519Signature2020" },
      { ...proof, cryptosuite: "eddsa-rdfc-2022" },
      { ...proof, cryptosuite: "mldsa44-jcs-2024" },
      { ...proof, proofPurpose: "authentication" },
      { ...proof, verificationMethod: { id: keyId } },
      { ...proof, created: undefined },
      { ...proof, created: "yesterday" },
      { ...proof, expires: "never" },
      { ...proof, proofValue: "m42ff" },
      { ...proof, proofValue: `z${"1".repeat(200)}` },
      { ...proof, proofValue: "z0OIl" },
      { ...proof, proofValue: "z" }
    ]
    for (const other of others) assert.isEmpty(integrityProofs({ ...document, proof: other }), JSON.stringify(other))
    assert.lengthOf(integrityProofs({ ...document, proof: Array.from({ length: 100 }, () => proof) }), 3)
    assert.isEmpty(integrityProofs({ ...document, signature: { ...proof, type: "RsaSignature2017" } }))
    // A lone surrogate has no canonical form.
    assert.isFalse(holds({ ...document, content: "\ud800", proof }))
  })
})
