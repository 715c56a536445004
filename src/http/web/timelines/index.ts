export { layer } from "./TimelinePages.ts"
