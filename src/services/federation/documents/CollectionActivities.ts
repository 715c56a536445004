import * as LocalIds from "../LocalIds.ts"
import type { Activity } from "./Activities.ts"
import { collectionContext } from "./CollectionDocument.ts"
import { type Document, everybody, withContext } from "./Vocabulary.ts"

/* What leaves about collections of accounts (FEP-7aa9). `actor` is the sender's id. */

/** Changes are public, and sent to the followers. */
const shown = (actor: string) => ({ to: [everybody], cc: [LocalIds.followers(actor)] })

/** A collection of accounts or an item of one: that it is there, or no more. `target` is what it belongs to. */
export const featureAccounts = (
  type: "Add" | "Remove",
  actor: string,
  target: string,
  object: Document | string,
  number: string
): Activity => {
  const id = `${actor}#collections/${number}/${type.toLowerCase()}`
  return {
    type,
    uri: id,
    document: { "@context": collectionContext, id, type, actor, ...shown(actor), target, object }
  }
}

/** A collection as it is now. */
export const updateCollection = (actor: string, object: Document, number: string): Activity => {
  const id = `${String(object["id"])}#updates/${number}`
  return {
    type: "Update",
    uri: id,
    document: { "@context": collectionContext, id, type: "Update", actor, ...shown(actor), object }
  }
}

/** An account of another server is asked whether it may be in a collection. */
export const requestFeature = (actor: string, id: string, object: string, collection: string): Activity => ({
  type: "FeatureRequest",
  uri: id,
  document: {
    "@context": collectionContext,
    id,
    type: "FeatureRequest",
    actor,
    to: [object],
    object,
    instrument: collection
  }
})

/** The answer of the one who was asked; `authorization` is what it gives where it agrees. */
export const answerFeature = (
  actor: string,
  asker: string,
  request: string,
  number: string,
  authorization: string | undefined
): Activity => {
  const type = authorization === undefined ? "Reject" : "Accept"
  const id = `${actor}#${type === "Accept" ? "accepts" : "rejects"}/feature_requests/${number}`
  const result = authorization === undefined ? {} : { result: authorization }
  return { type, uri: id, document: withContext({ id, type, actor, to: [asker], object: request, ...result }) }
}

/** What an account gave for its place in a collection holds no more. */
export const deleteAuthorization = (actor: string, object: Document): Activity => {
  const id = `${String(object["id"])}#delete`
  return {
    type: "Delete",
    uri: id,
    document: { "@context": collectionContext, id, type: "Delete", actor, to: [everybody], object }
  }
}
