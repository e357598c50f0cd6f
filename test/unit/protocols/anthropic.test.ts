import { anthropicMessages } from '../../../src/providers/protocols/anthropic/wire.ts'
import { holdWireContract } from './support/contract.ts'

holdWireContract('anthropic', anthropicMessages)
