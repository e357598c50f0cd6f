import { fieldsOf, parseJson, textOf } from '../../lib/json/json.ts'

/** A request that failed: what the gateway said, or why it could not be reached. */
export class ApiFailure extends Error {
  /** 0 if there was no response. */
  readonly status: number
  readonly code: string | null
  readonly requestId: string | null
  /** Seconds to wait before another attempt, if the gateway named them. */
  readonly retryAfter: number | null

  constructor(
    message: string,
    details: Partial<Pick<ApiFailure, 'status' | 'code' | 'requestId' | 'retryAfter'>> = {},
  ) {
    super(message)
    this.name = 'ApiFailure'
    this.status = details.status ?? 0
    this.code = details.code ?? null
    this.requestId = details.requestId ?? null
    this.retryAfter = details.retryAfter ?? null
  }

  /** The remedy; undefined where the message says it already. */
  get advice(): string | undefined {
    if (this.status === 0) return 'Check that the gateway is running and that this machine can reach it.'
    if (this.status === 401) return 'Enter another key: use “Keys” in the navigation.'
    if (this.code === 'budget_exceeded') return undefined
    if (this.status === 402) return 'Add credit to the organization with “weir orgs credit”.'
    if (this.status !== 429 && this.status !== 503) return undefined
    return this.retryAfter === null ? 'Try again in a moment.' : `Try again in ${this.retryAfter} s.`
  }
}

/** Reads the error of a response, in the shape of the API or any other. */
export async function failureOf(response: Response): Promise<ApiFailure> {
  const text = await response.text().catch(() => '')
  const { message, code } = errorIn(text)
  return new ApiFailure(message ?? `The gateway returned status ${response.status}.`, {
    status: response.status,
    code: code ?? null,
    requestId: response.headers.get('x-request-id'),
    retryAfter: Number(response.headers.get('retry-after') ?? Number.NaN) || null,
  })
}

/** The error in the JSON of a body or of an error frame of a stream. */
export function errorIn(json: string) {
  const { message, code } = fieldsOf(fieldsOf(parseJson(json)).error)
  return { message: typeof message === 'string' ? message : undefined, code: textOf(code) }
}

/** True for the error of a request that the page itself has aborted. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}

/** Any thrown value as a failure that can be shown. */
export function toFailure(error: unknown): ApiFailure {
  if (error instanceof ApiFailure) return error
  return new ApiFailure(error instanceof TypeError ? 'The gateway cannot be reached.' : messageOf(error))
}

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
