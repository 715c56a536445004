import { Layer } from "effect"
import { WebFingers } from "../../../services/federation/WebFingers.ts"
import { ArchiveParts } from "../../../services/transfers/archives/ArchiveParts.ts"
import { ArchiveRequests } from "../../../services/transfers/archives/ArchiveRequests.ts"
import { FileImports } from "../../../services/transfers/FileImports.ts"
import { ListExports } from "../../../services/transfers/ListExports.ts"
import { LiveImports } from "../../../services/transfers/live/LiveImports.ts"
import * as ArchiveImportPage from "./ArchiveImportPage.ts"
import * as ArchivesPage from "./ArchivesPage.ts"
import * as ImportPage from "./ImportPage.ts"
import * as ListsPage from "./ListsPage.ts"

/** Imports and exports of members. */
export const layer = Layer.mergeAll(ArchiveImportPage.layer, ArchivesPage.layer, ImportPage.layer, ListsPage.layer)
  .pipe(
    Layer.provide([ArchiveParts.layer, ArchiveRequests.layer, FileImports.layer, ListExports.layer, LiveImports.layer]),
    Layer.provide(WebFingers.layer)
  )
