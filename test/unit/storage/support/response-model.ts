import type { ResponseStatus } from '../../../../src/storage/ports/responses.ts'

/** What should be known of a response. */
export type ModelResponse = {
  readonly id: string
  readonly owner: string
  readonly previousId: string | undefined
  readonly createdAt: number
  readonly status: ResponseStatus
  readonly deleted: boolean
  readonly log: string
}

/** All responses that were ever stored, by id. */
export type ResponseModel = Map<string, ModelResponse>

/** A response as its owner sees it. */
export function visibleResponse(model: ResponseModel, owner: string, id: string): ModelResponse | undefined {
  const response = model.get(id)
  return response === undefined || response.deleted || response.owner !== owner ? undefined : response
}

export function isFinished({ status }: ModelResponse): boolean {
  return status !== 'queued' && status !== 'in_progress'
}

/** The ids of a response and all that it follows, oldest first. */
export function chainOf(model: ResponseModel, response: ModelResponse): string[] {
  const ids: string[] = []
  for (let next: ModelResponse | undefined = response; next; next = model.get(next.previousId ?? ''))
    ids.unshift(next.id)
  return ids
}

/** The ids that are still needed: those in sight, and all that those follow. */
export function storedIds(model: ResponseModel): string[] {
  const inSight = [...model.values()].filter(({ deleted }) => !deleted)
  return [...new Set(inSight.flatMap((response) => chainOf(model, response)))].toSorted()
}
