# The tables of the model shop.

terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 6.31"
    }
  }
}

variable "stage" {
  type        = string
  description = "{stage} in the names of tables"
}

variable "region" {
  type        = string
  description = "{region} in the names of tables"
}

resource "aws_dynamodb_table" "orders" {
  name                        = "orders-${var.stage}"
  billing_mode                = "PROVISIONED"
  read_capacity               = 10
  write_capacity              = 5
  hash_key                    = "pk"
  range_key                   = "sk"
  stream_enabled              = true
  stream_view_type            = "NEW_AND_OLD_IMAGES"
  table_class                 = "STANDARD_INFREQUENT_ACCESS"
  deletion_protection_enabled = true

  attribute {
    name = "day"
    type = "S"
  }

  attribute {
    name = "gsi1pk"
    type = "S"
  }

  attribute {
    name = "gsi1sk"
    type = "S"
  }

  attribute {
    name = "orderId"
    type = "S"
  }

  attribute {
    name = "pk"
    type = "S"
  }

  attribute {
    name = "region"
    type = "S"
  }

  attribute {
    name = "sk"
    type = "S"
  }

  attribute {
    name = "tenantId"
    type = "S"
  }

  attribute {
    name = "total"
    type = "N"
  }

  global_secondary_index {
    name            = "gsi1"
    hash_key        = "gsi1pk"
    range_key       = "gsi1sk"
    projection_type = "ALL"
    read_capacity   = 10
    write_capacity  = 5
  }

  global_secondary_index {
    name               = "by-region"
    projection_type    = "INCLUDE"
    non_key_attributes = ["total"]
    read_capacity      = 10
    write_capacity     = 5

    key_schema {
      attribute_name = "tenantId"
      key_type       = "HASH"
    }

    key_schema {
      attribute_name = "region"
      key_type       = "HASH"
    }

    key_schema {
      attribute_name = "day"
      key_type       = "RANGE"
    }

    key_schema {
      attribute_name = "orderId"
      key_type       = "RANGE"
    }
  }

  local_secondary_index {
    name            = "byTotal"
    range_key       = "total"
    projection_type = "KEYS_ONLY"
  }

  ttl {
    attribute_name = "expires"
    enabled        = true
  }

  point_in_time_recovery {
    enabled = true
  }

  server_side_encryption {
    enabled     = true
    kms_key_arn = data.aws_kms_alias.orders.target_key_arn
  }
}

data "aws_kms_alias" "orders" {
  name = "alias/orders"
}

output "orders_name" {
  value = aws_dynamodb_table.orders.name
}

output "orders_arn" {
  value = aws_dynamodb_table.orders.arn
}

output "orders_stream_arn" {
  value = aws_dynamodb_table.orders.stream_arn
}

resource "aws_dynamodb_table" "customers" {
  name         = "customers-${var.stage}-${var.region}"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "customerId"

  attribute {
    name = "customerId"
    type = "S"
  }

  server_side_encryption {
    enabled = true
  }
}

output "customers_name" {
  value = aws_dynamodb_table.customers.name
}

output "customers_arn" {
  value = aws_dynamodb_table.customers.arn
}
