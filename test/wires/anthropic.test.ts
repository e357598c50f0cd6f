import { anthropicMessages } from '../../src/providers/wires/anthropic/wire.ts'
import { holdWireContract } from './contract.ts'

holdWireContract('anthropic', anthropicMessages)
